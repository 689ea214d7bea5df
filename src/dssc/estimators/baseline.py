"""The methods that the paper compares with: a self-expression, then an affinity of it."""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from dssc._memory import available_bytes, check_matrices
from dssc._progress import Progress
from dssc._typing import Matrix
from dssc._validation import check_positive
from dssc.engines import AffinityGraph, CpuEngine
from dssc.engines.cpu import MatrixExpression
from dssc.estimators.base import SubspaceClustering, dtype_of, parameters
from dssc.features import check_not_orthogonal, unit_norm
from dssc.pipeline import COMPONENTS, Settings, affinity_graph, assign, embed

# n x n matrices that a fit with a dense self-expression holds at once, as measured. Most are
# copies of the affinity in the spectral step.
DENSE_MATRICES = 7


def check_dense_memory(n_samples: int) -> None:
    """Refuse a fit whose dense self-expression does not fit into memory."""
    check_matrices(
        "a dense self-expression",
        n_samples,
        DENSE_MATRICES,
        available_bytes(),
        "Use fewer samples, or a method without such matrices: ADSSC, SSC, EnSC, SSCOMP or TSC",
    )


def check_eta2(eta2: float | str | None, n_clusters: int | None) -> None:
    """Check an eta2 that may be a number, "components" or None."""
    if eta2 == COMPONENTS:
        if n_clusters is None:
            raise ValueError("eta2='components' needs n_clusters: give the number of clusters")
    elif eta2 is not None:
        check_positive("eta2", eta2)


@parameters
class BaselineClustering(SubspaceClustering):
    """Express unit rows of X by each other, build an affinity, and cluster its eigenvectors.

    A method is a subclass that says how the rows are expressed.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None estimates it from the affinity, and warns when the evidence is
        weak; see :func:`dssc.estimate_n_clusters`.
    affinity : {"symmetric", "doubly_stochastic"}, default="symmetric"
        ``(|C| + |C|') / 2``, normalised by its degrees in the spectral step; or the doubly
        stochastic matrix nearest to it, as in the paper, which needs no other normalisation.
        The latter suits a C with more nonzeros per point than the affinity should have neighbours.
        With fewer nonzeros, as often in SSC and SSC-OMP, they cannot carry row and column sums of
        one, and the nearest matrix puts mass on pairs that are not similar at all.
    eta2 : float, "components" or None, default=None
        Regularisation of the doubly stochastic affinity; larger values give more neighbours per
        point. None chooses the value that gives `n_neighbors`; "components" takes the smallest
        value that leaves at most `n_clusters` connected components.
    n_neighbors : int, default=12
        Mean number of neighbours per point in the doubly stochastic affinity (entries off the
        diagonal above 1e-9) that eta2 is chosen for; ``min(n_neighbors, n_samples - 1)`` is used.
    n_components : int or None, default=None
        Number of eigenvectors. None means `n_clusters`; unlike in :class:`dssc.ADSSC`, no further
        eigenvectors are taken.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are assigned from the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means.
    merge_copies : bool, default=True
        Whether rows that are equal up to their length (and up to their sign, where signs do not
        count) are clustered as one point. Their copies get its label. False treats them as separate
        points, as the paper does: each then expresses its copies, and the graph may fall apart.
    tol : float, default=1e-8
        Tolerance of the solvers: on the optimality conditions of the self-expression, and on the
        sums and the duality gap of a doubly stochastic affinity.
    max_iter : int, default=1000
        Most iterations of each solver.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start, and of the self-expression where it
        has any. Pass an int for repeatable labels.
    invalid_rows : {"error", "label"}, default="error"
        What to do with rows that are zero or hold NaN or infinite values: raise an error that names
        them, or give them the label -1 and cluster the others.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample: k-means on the rows of `embedding_`, scaled to unit norm.
    confidence_ : ndarray of shape (n_samples,)
        The share of each sample's affinity to others that lies in its own cluster; zero for rows
        that could not be used.
    affinity_matrix_ : scipy.sparse.csr_array or ndarray of shape (n_samples, n_samples)
        The affinity: dense where it is symmetric and C is dense.
    representation_matrix_ : scipy.sparse.csr_array or ndarray of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of the affinity.
    n_clusters_ : int
        The number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues of the affinity that the number was read from, in falling order, when
        `n_clusters` is None; `cluster_evidence_` says how strong the evidence is.
    eta2_ : float
        The eta2 that was used, for a doubly stochastic affinity.
    n_neighbors_ : float
        Mean number of neighbours per point, for a doubly stochastic affinity.
    projection_ : dssc.result.ProjectionResult
        The solver's result, with its certificate, for a doubly stochastic affinity; None if there
        are copies, and no more distinct points than clusters.
    n_iter_ : int
        Newton steps of the projection for a doubly stochastic affinity; otherwise iterations of
        the self-expression: one where it has a closed form, the most steps per row of a pursuit.
    distinct_rows_ : ndarray of shape (n_points,)
        The first sample of every distinct point. `projection_` and `n_neighbors_` belong to these
        points. In the other attributes copies have the embedding and coefficients of their point,
        and share its affinity to other points equally.
    timings_ : dict
        Seconds by stage.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, when X has string names.
    """

    affinity: str = "symmetric"
    eta2: float | str | None = None
    n_neighbors: int = 12
    tol: float = 1e-8
    max_iter: int = 1000

    counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_neighbors", "n_init", "max_iter")
    positive: ClassVar[tuple[str, ...]] = ("tol",)
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        "affinity": ("symmetric", "doubly_stochastic"),
        **SubspaceClustering.choices,
    }

    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the rows of X; see :meth:`dssc.estimators.base.SubspaceClustering.fit`."""
        with self._unchanged_on_failure():
            X, usable = self._validated(X)
            rng = check_random_state(self.random_state)
            engine, progress, settings = CpuEngine(), Progress(), self._settings()

            rows = self._find_distinct(X, usable)
            if rows.distinct.are_clusters(self.n_clusters):
                self._record_separate(progress, dtype_of(X), rows)
                return self
            with progress.stage("self-expression"):
                points = unit_norm(rows.take(X))
                check_not_orthogonal(points)
                expression = MatrixExpression(self._express(points, rng))
            if self.affinity == "symmetric":
                graph = AffinityGraph(expression.K, expression)
            else:
                graph = affinity_graph(expression, self.n_clusters, settings, progress)
            n_clusters = self._number_of_clusters(graph, progress)
            embedding = embed(graph, n_clusters, settings, engine, rng, progress)
            labels = assign(graph, embedding, n_clusters, settings, engine, rng, progress)
            self._record(graph, n_clusters, embedding, labels, progress, dtype_of(X), rows)
        return self

    @property
    def _is_doubly_stochastic(self) -> bool:
        return self.affinity == "doubly_stochastic"

    @abstractmethod
    def _express(self, X: Matrix, rng: np.random.RandomState) -> Matrix:
        """Return C for rows of unit norm, and set `n_iter_`."""

    def _settings(self) -> Settings:
        return Settings(
            eta2=self.eta2,
            n_neighbors=self.n_neighbors,
            n_components=self.n_components,
            assign_labels=self.assign_labels,
            n_init=self.n_init,
            tol=self.tol,
            max_iter=self.max_iter,
        )

    def _check_parameters(self, n_samples: int) -> None:
        check_eta2(self.eta2, self.n_clusters)
        super()._check_parameters(n_samples)
