"""J-DSSC: self-expression and doubly stochastic affinity learned together."""

from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from dssc._devices import as_array
from dssc._progress import Progress
from dssc._validation import check_nonnegative
from dssc._warnings import warn_user
from dssc.engines import AffinityGraph, CpuEngine, engine_in_use
from dssc.engines.cpu import MatrixExpression
from dssc.estimators.base import SubspaceClustering, dtype_of, parameters
from dssc.features import check_not_orthogonal, unit_norm
from dssc.joint import SOLVERS
from dssc.pipeline import Settings, assign, embed
from dssc.stochastic import mean_neighbors

# What the solvers can compute with in float64. A smaller eta2 is below the rounding of C.
RANGES = {"eta1": (1e-100, 1e100), "eta2": (1e-12, 1e100)}


@parameters
class JDSSC(SubspaceClustering):
    r"""Joint doubly stochastic subspace clustering (J-DSSC).

    Rows of X are scaled to unit norm; the self-expression :math:`C = C_p - C_q` and the doubly
    stochastic affinity A are learned together by the convex problem (model),

    .. math:: \min_{C_p, C_q, A} \tfrac12 \|X - (C_p - C_q) X\|_F^2
              + \tfrac{\eta_1}{2} \|C_p + C_q - \eta_2 A\|_F^2 + \eta_3 \|C_p + C_q\|_1

    subject to :math:`A \ge 0`, row and column sums of one, :math:`C_p, C_q \ge 0` with zero
    diagonals. A is clustered by its leading eigenvectors. The solvers hold n x n matrices in
    memory: for many points use :class:`dssc.ADSSC`.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None estimates it from A, and warns when the evidence is weak; see
        :func:`dssc.estimate_n_clusters`.
    eta1 : float, default=1.0
        Weight of the distance between coefficients and affinity.
    eta2 : float, default=0.5
        Scale of the affinity relative to the coefficients; larger values give more neighbours per
        point. The paper's values (.01 to .2) belong to its solver, which stops early: at the
        optimum they give two or three neighbours, too few to cluster by.
    eta3 : float, default=0.0
        Weight of the l1 norm of the coefficients.
    solver : {"auto", "splitting", "newton", "linearized-admm"}, default="auto"
        "splitting" and "newton" find the optimum, with a duality gap: "splitting" by some dozens of
        large products; "newton" by few rounds, which reach gaps far below 1e-7 but are expensive
        for many points if `eta3` is positive. "auto" runs "splitting" and then, for up to 3000
        points, "newton" where the gap is still too large. For at most 1000 points (500 with
        `eta3`), at least four times as many as features, it runs "newton" first.
        "linearized-admm" is the paper's algorithm with the authors' settings, for reproduction:
        2000 iterations, not run to convergence; the affinity is its last nonnegative iterate, whose
        sums are nearly one.
    alternating_steps : int or None, default=None
        If given, minimise over C and then over A this many times instead; one step is A-DSSC with
        the paper's non-symmetric projection.
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
    tol : float, default=1e-6
        Relative duality gap of the optimum; in float32, gaps below about 1e-5 cannot be reached.
        For "linearized-admm", the size of its residuals at which it ends early.
    max_iter : int or None, default=None
        Most iterations. None means 400 of "splitting", 50 rounds of "newton" (10 in "auto"), 2000
        of "linearized-admm". If a number is given, "auto" runs its first solver only.
    device : {"cpu", "cuda", "cuda:<number>", "torch"} or None, default=None
        The engine: compiled code on the CPU, torch on a GPU, or torch on the CPU, for comparison;
        "newton" and `alternating_steps` run on the CPU only. None chooses by where X lives, which
        may be a torch tensor. Results are NumPy and SciPy objects in every case.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start. Pass an int for repeatable labels.
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
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The affinity A.
    representation_matrix_ : ndarray of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of A.
    objective_history_ : ndarray of shape (n_records,)
        The model's value during the iterations.
    n_clusters_ : int
        The number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues of A that the number was read from, in falling order, when `n_clusters`
        is None; `cluster_evidence_` says how strong the evidence is.
    eta2_ : float
        The eta2 that was used.
    n_neighbors_ : float
        Mean number of neighbours per point in A.
    projection_ : dssc.joint.JointResult
        The solver's result: objective, dual bound, gap, marginal error, overlap of C_p and C_q.
        None if there are copies, and no more distinct points than clusters: then each of them is a
        cluster, and nothing is solved.
    n_iter_ : int
        Iterations of the solver.
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

    References
    ----------
    Lim, Vidal and Haeffele, "Doubly Stochastic Subspace Clustering", ICCV 2021.

    Examples
    --------
    >>> from dssc import JDSSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> labels = JDSSC(n_clusters=3, eta2=1.0, random_state=0).fit_predict(X)
    >>> clustering_accuracy(y, labels)
    1.0
    """

    eta1: float = 1.0
    eta2: float = 0.5
    eta3: float = 0.0
    solver: str = "auto"
    alternating_steps: int | None = None
    tol: float = 1e-6
    max_iter: int | None = None
    device: str | None = None

    counts: ClassVar[tuple[str, ...]] = ("n_clusters", "n_init", "max_iter", "alternating_steps")
    optional_counts: ClassVar[tuple[str, ...]] = ("n_clusters", "max_iter", "alternating_steps")
    positive: ClassVar[tuple[str, ...]] = ("tol", "eta1", "eta2")
    choices: ClassVar[dict[str, tuple[str, ...]]] = {
        **SubspaceClustering.choices,
        "solver": tuple(SOLVERS),
    }

    def fit(self, X: Any, y: None = None) -> Self:
        """Cluster the rows of X; see :meth:`dssc.estimators.base.SubspaceClustering.fit`."""
        with self._unchanged_on_failure(), engine_in_use(self.device, X) as engine:
            X, usable = self._validated(as_array(X))
            rng = check_random_state(self.random_state)
            progress = Progress()

            rows = self._find_distinct(X, usable)
            if rows.distinct.are_clusters(self.n_clusters):
                self._record_separate(progress, dtype_of(X), rows)
                self.eta2_, self.objective_history_ = float(self.eta2), np.zeros(0)
                return self
            with progress.stage("self-expression"):
                points = unit_norm(rows.take(X))
                check_not_orthogonal(points)
                result = engine.solve_joint(
                    np.ascontiguousarray(points.toarray() if sparse.issparse(points) else points),
                    float(self.eta1),
                    float(self.eta2),
                    float(self.eta3),
                    solver=self.solver,
                    alternating_steps=self.alternating_steps,
                    tol=self.tol,
                    max_iter=self.max_iter,
                )
                self._warn_if_not_optimal(result.converged, result.status)
                expression = MatrixExpression(result.representation)
            graph = AffinityGraph(sparse.csr_array(result.plan), expression)
            n_clusters = self._number_of_clusters(graph, progress)
            # The spectral step runs on the CPU: A is sparse, and not symmetric.
            cpu = CpuEngine()
            settings = Settings(
                n_components=self.n_components, assign_labels=self.assign_labels, n_init=self.n_init
            )
            embedding = embed(graph, n_clusters, settings, cpu, rng, progress)
            labels = assign(graph, embedding, n_clusters, settings, cpu, rng, progress)
            self._record(graph, n_clusters, embedding, labels, progress, dtype_of(X), rows)
            self.projection_ = result
            self.objective_history_ = result.history
            self.eta2_ = float(self.eta2)
            self.n_neighbors_ = mean_neighbors(graph.affinity)
            self.n_iter_ = result.n_iter
        return self

    def _warn_if_not_optimal(self, converged: bool, status: str) -> None:
        """Warn, unless a number of iterations was asked for instead of the optimum."""
        wants_optimum = self.solver != "linearized-admm" and self.alternating_steps is None
        if wants_optimum and not converged:
            warn_user(status, ConvergenceWarning)

    def _check_parameters(self, n_samples: int) -> None:
        super()._check_parameters(n_samples)
        check_nonnegative("eta3", self.eta3)
        for name, (least, most) in RANGES.items():
            value = getattr(self, name)
            if not least <= value <= most:
                raise ValueError(
                    f"{name}={value!r} must be between {least:g} and {most:g}; rows of X have unit "
                    "norm, so values near one are usual"
                )
