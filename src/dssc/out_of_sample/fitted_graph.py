"""A clustered graph as new points see it."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.out_of_sample.affinity_rows import affinity_rows, sparse_affinity_rows
from dssc.out_of_sample.placement import Placement


@dataclass(frozen=True)
class FittedGraph:
    """Clustered vertices, with what places new ones among them.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Their clusters.
    n_clusters : int
        Number of clusters.
    eta2 : float
        Regularisation of the affinity.
    potentials : ndarray of shape (n_samples,)
        Potentials of the projection, for similarities from which `lowest` was subtracted.
    lowest : float
        The similarity that counts as none.
    weights : ndarray of shape (n_samples,) or None
        How often each vertex counts, with a mean of one. A new one counts once.
    """

    labels: Array
    n_clusters: int
    eta2: float
    potentials: Array
    lowest: float
    weights: Array | None = None

    def place(self, K: Matrix) -> Placement:
        """Return where new points belong, from their similarities to the fitted ones.

        Of a sparse matrix only the stored entries can be positive in a row of the affinity.
        """
        if sparse.issparse(K):
            entries = K.tocoo()
            rows = sparse_affinity_rows(
                entries.row,
                entries.col,
                entries.data - self.lowest,
                K.shape[0],
                self.potentials,
                self.eta2,
                with_self=True,
                weights=self.weights,
            )
        else:
            rows = affinity_rows(
                lambda columns: K[:, columns] - self.lowest,
                lambda rows, columns, similarities: similarities.astype(np.float64),
                np.ones(K.shape[1]),
                self.potentials,
                self.eta2,
                with_self=True,
                weights=self.weights,
            )
        return Placement.of(rows, self.labels, self.n_clusters)
