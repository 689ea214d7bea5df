"""K to A: the doubly stochastic projection of a similarity matrix, and what generalises it."""

from dssc.stochastic.components import project_to_components
from dssc.stochastic.joining import join_rows
from dssc.stochastic.neighbors import project_to_neighbors
from dssc.stochastic.problem import ProjectionProblem
from dssc.stochastic.products import ProductSimilarity
from dssc.stochastic.projection import project_doubly_stochastic
from dssc.stochastic.transport import quadratic_transport

__all__ = [
    "ProductSimilarity",
    "ProjectionProblem",
    "join_rows",
    "project_doubly_stochastic",
    "project_to_components",
    "project_to_neighbors",
    "quadratic_transport",
]
