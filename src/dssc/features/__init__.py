"""Images to X: the features that are clustered."""

from dssc.features.scaling import unit_norm

__all__ = ["unit_norm"]
