"""From an affinity to labels: the spectral step of Algorithm 1."""

from dssc.spectral.commute_time import commute_time_embedding
from dssc.spectral.eigenvectors import StartVectors
from dssc.spectral.embedding import embedding_from, spectral_embedding
from dssc.spectral.fading import faded, fading_components
from dssc.spectral.labels import assign_labels
from dssc.spectral.number import estimate_n_clusters

__all__ = [
    "StartVectors",
    "assign_labels",
    "commute_time_embedding",
    "embedding_from",
    "estimate_n_clusters",
    "faded",
    "fading_components",
    "spectral_embedding",
]
