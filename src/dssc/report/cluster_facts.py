"""What the page says about each cluster."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.confusion import Confusion
from dssc.contacts import Contacts, find_contacts
from dssc.report.distinctive import DistinctiveFeature
from dssc.report.samples import ReportSamples
from dssc.separation import Separation
from dssc.verdict import Verdict


@dataclass(frozen=True)
class ClusterFacts:
    """Numbers for every cluster.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters,)
        Number of samples.
    confidence : ndarray of shape (n_clusters,)
        Mean share of a sample's affinity inside the cluster.
    found_again : ndarray of shape (n_clusters,), or None
        Overlap with clusters found in halves of the points, where it was computed.
    dimensions : ndarray of shape (n_clusters,), or None
        Dimension of the subspace, where the method has subspaces.
    contacts : Contacts
        Affinity between clusters.
    separation : Separation or None
        Proofs of separation, where they were computed.
    features : list of lists of DistinctiveFeature, or None
        What sets each cluster apart, for tables.
    classes : list of tuple of str and float, or None
        The most common class and its share, where classes are known.
    """

    sizes: Array
    confidence: Array
    found_again: Array | None
    dimensions: Array | None
    contacts: Contacts
    separation: Separation | None
    features: list[list[DistinctiveFeature]] | None
    classes: list[tuple[str, float]] | None

    @property
    def is_isolated(self) -> Array | None:
        """Which clusters are proved to be separate from all others."""
        return None if self.separation is None else self.separation.isolated


def cluster_facts(
    model: Any,
    graph: sparse.csr_array,
    samples: ReportSamples,
    verdict: Verdict | None,
    separation: Separation | None,
    features: list[list[DistinctiveFeature]] | None,
    confusion: Confusion | None,
) -> ClusterFacts:
    """Return the facts about the clusters of a fitted model; `graph` has the samples kept."""
    labels, k = samples.labels[samples.kept], int(model.n_clusters_)
    sizes = np.bincount(labels, minlength=k)
    confidence = np.bincount(labels, samples.confidence[samples.kept], minlength=k)
    return ClusterFacts(
        sizes,
        confidence / np.maximum(sizes, 1),
        None if verdict is None else verdict.evidence.stability.clusters,
        model.subspaces().dimensions if hasattr(model, "subspaces") else None,
        find_contacts(graph, labels, k),
        separation,
        features,
        None if confusion is None else _most_common(confusion),
    )


def _most_common(confusion: Confusion) -> list[tuple[str, float]]:
    """Return the most common class of each cluster, and its share."""
    found = []
    for cluster in range(len(confusion.clusters)):
        counts = confusion.counts[:, confusion.clusters.index(cluster)]
        best, total = int(np.argmax(counts)), int(counts.sum())
        found.append((confusion.classes[best], counts[best] / total) if total else ("", 0.0))
    return found
