"""TSC: similarities of the nearest samples."""

from dssc.estimators.base import SubspaceClustering
from dssc.expression import thresholded_similarity


class TSC(SubspaceClustering):
    r"""Thresholding-based subspace clustering (TSC).

    Rows of X are scaled to unit norm. For the q other rows with the largest
    :math:`|\langle x_i, x_j \rangle|`

    .. math:: C_{ij} = \exp(-2 \arccos |\langle x_i, x_j \rangle|) ,

    and C is zero elsewhere.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    n_neighbors : int, default=5
        Number of neighbours q of a sample, and the mean number of them a doubly stochastic affinity
        is to have; ``min(n_neighbors, n_samples - 1)`` is used.
    affinity, eta2, n_components, assign_labels, n_init, tol, max_iter, random_state
        As in :class:`dssc.estimators.base.SubspaceClustering`, as are the attributes.

    References
    ----------
    Heckel and Bölcskei, "Robust Subspace Clustering via Thresholding", IEEE Transactions on
    Information Theory 61, 2015.

    Examples
    --------
    >>> from dssc import TSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> clustering_accuracy(y, TSC(n_clusters=3, random_state=0).fit_predict(X))
    1.0
    """

    def __init__(
        self,
        n_clusters=8,
        *,
        n_neighbors=5,
        affinity="symmetric",
        eta2=None,
        n_components=None,
        assign_labels="kmeans",
        n_init=10,
        tol=1e-8,
        max_iter=1000,
        random_state=None,
    ):
        super().__init__(
            n_clusters,
            affinity=affinity,
            eta2=eta2,
            n_neighbors=n_neighbors,
            n_components=n_components,
            assign_labels=assign_labels,
            n_init=n_init,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )

    def _express(self, X, rng):
        self.n_iter_ = 1
        return thresholded_similarity(X, self.n_neighbors)
