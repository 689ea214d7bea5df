"""New points after a fit: their expression, their row of A, their share in each cluster."""

from dssc.out_of_sample.fitted import FittedClusters
from dssc.out_of_sample.fitted_graph import FittedGraph
from dssc.out_of_sample.placement import Placement

__all__ = ["FittedClusters", "FittedGraph", "Placement"]
