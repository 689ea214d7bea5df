"""New points after a fit: their expression, their row of A, their share in each cluster."""

from dssc.out_of_sample.fitted import FittedClusters

__all__ = ["FittedClusters"]
