"""Random walks on a graph of several lengths, and how well clusters keep them."""

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.graph import is_inside

# Most steps of a walk, as a power of two, and lengths per doubling.
DOUBLINGS, PER_DOUBLING = 8, 4


class Walks:
    """Walks of 1 to 256 steps that start anywhere on a graph, in proportion to its degrees.

    A walk goes from point to point in proportion to the affinity. The *stability* of a clustering
    is the share of walks that end in the cluster where they began, less the share that chance would
    put there (Delvenne, Yaliraki and Barahona, 2010). For one step it is the modularity. Short
    walks favour many small clusters, and long ones few large ones.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Symmetric, nonnegative.
    vectors : ndarray of shape (n, n_vectors)
        Its leading eigenvectors; later ones matter for single steps only, which do not need them.
    eigenvalues : ndarray of shape (n_vectors,)
        Their eigenvalues, in falling order.
    """

    def __init__(self, graph: sparse.csr_array, vectors: Array, eigenvalues: Array):
        self.graph = graph
        self.degrees = np.asarray(graph.sum(axis=1)).ravel()
        self.total = float(self.degrees.sum())
        self.lengths = 2.0 ** (np.arange(DOUBLINGS * PER_DOUBLING + 1) / PER_DOUBLING)
        self.powers = np.clip(eigenvalues, 0.0, 1.0) ** self.lengths[:, None]
        self.weighted = np.sqrt(self.degrees)[:, None] * vectors

    def stability(self, labels: Array) -> Array:
        """Return the stability of a clustering for walks of all lengths."""
        members = sparse.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
        shares = (members @ self.degrees) / self.total
        inside = self.powers @ (np.square(members @ self.weighted).sum(axis=0) / self.total)
        inside[0] = self.graph.data @ is_inside(self.graph, labels) / self.total
        return inside - np.square(shares).sum()
