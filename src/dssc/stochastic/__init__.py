"""K to A: the doubly stochastic projection of a similarity matrix."""

from dssc.stochastic.neighbors import project_to_neighbors
from dssc.stochastic.projection import ProjectionProblem, project_doubly_stochastic

__all__ = ["ProjectionProblem", "project_doubly_stochastic", "project_to_neighbors"]
