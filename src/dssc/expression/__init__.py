"""X to C: expressing every sample by the others."""

from dssc.expression.elastic_net import elastic_net_representation
from dssc.expression.lsr import least_squares_representation

__all__ = ["elastic_net_representation", "least_squares_representation"]
