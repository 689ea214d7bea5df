"""Plots of a clustering on matplotlib axes; needs matplotlib, the extra ``dssc[plot]``.

Each takes a fitted model, or the arrays it needs, and returns the axes it has drawn on.
"""

from dssc.plotting.affinity import plot_affinity
from dssc.plotting.confusion import plot_confusion
from dssc.plotting.contacts import plot_contacts
from dssc.plotting.embedding import plot_embedding
from dssc.plotting.exploration import plot_exploration
from dssc.plotting.members import plot_clusters
from dssc.plotting.sizes import plot_sizes
from dssc.plotting.spectrum import plot_spectrum
from dssc.plotting.stability import plot_stability

__all__ = [
    "plot_affinity",
    "plot_clusters",
    "plot_confusion",
    "plot_contacts",
    "plot_embedding",
    "plot_exploration",
    "plot_sizes",
    "plot_spectrum",
    "plot_stability",
]
