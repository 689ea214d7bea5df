"""K to A: the doubly stochastic projection of a similarity matrix, and quadratic transport."""

from dssc.stochastic.eta2_by_components import project_to_components
from dssc.stochastic.eta2_by_neighbors import mean_neighbors, project_to_neighbors
from dssc.stochastic.factored_similarity import FactoredSimilarity
from dssc.stochastic.near_pairs import NearPairs
from dssc.stochastic.problem import ProjectionProblem
from dssc.stochastic.projectable import Projectable
from dssc.stochastic.projection import project_doubly_stochastic
from dssc.stochastic.scan import Search, largest_similarities
from dssc.stochastic.transport import quadratic_transport

__all__ = [
    "FactoredSimilarity",
    "NearPairs",
    "Projectable",
    "ProjectionProblem",
    "Search",
    "largest_similarities",
    "mean_neighbors",
    "project_doubly_stochastic",
    "project_to_components",
    "project_to_neighbors",
    "quadratic_transport",
]
