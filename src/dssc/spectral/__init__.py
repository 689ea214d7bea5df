"""From an affinity to labels: the spectral step of Algorithm 1."""

from dssc.spectral.embedding import spectral_embedding
from dssc.spectral.labels import assign_labels

__all__ = ["assign_labels", "spectral_embedding"]
