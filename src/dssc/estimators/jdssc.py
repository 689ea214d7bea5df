"""J-DSSC: self-expression and doubly stochastic affinity learned together."""

import warnings
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc._devices import as_array, torch_device
from dssc._validation import check_count, check_nonnegative, check_positive
from dssc.estimators.base import SubspaceClustering
from dssc.joint import SOLVERS, solve_joint


class JDSSC(SubspaceClustering):
    r"""Joint doubly stochastic subspace clustering (J-DSSC).

    Rows of X are scaled to unit norm; the self-expression :math:`C = C_p - C_q` and the doubly
    stochastic affinity A are learned together by the convex problem (model),

    .. math:: \min_{C_p, C_q, A} \tfrac12 \|X - (C_p - C_q) X\|_F^2
              + \tfrac{\eta_1}{2} \|C_p + C_q - \eta_2 A\|_F^2 + \eta_3 \|C_p + C_q\|_1

    subject to :math:`A \ge 0`, row and column sums of one, :math:`C_p, C_q \ge 0` with zero
    diagonals; A is clustered by its leading eigenvectors. n x n matrices are held in memory: for
    many points use :class:`dssc.ADSSC`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    eta1 : float, default=1.0
        Weight of the distance between coefficients and affinity.
    eta2 : float, default=0.5
        Scale of the affinity against the coefficients; larger values give more neighbours a point.
        The paper's values (.01 to .2) belong to its solver, which stops early: at the optimum they
        give two or three neighbours, too few to cluster by.
    eta3 : float, default=0.0
        Weight of the coefficients' l1 norm.
    solver : {"auto", "splitting", "newton", "linearized-admm"}, default="auto"
        The first three find the optimum, with a duality gap: "splitting" by some dozens of large
        products; "newton" by few rounds that reach gaps far below 1e-7, and cost more on many
        points if `eta3` is positive. "auto" takes the former, and on up to 3000 points the latter
        where that falls short; on at most 1000 points (500 with `eta3`) that are four times as
        many as their features or more, the latter first. "linearized-admm" is the paper's
        algorithm with the authors' settings, for reproduction: 2000 iterations, not run to
        convergence, and the affinity is its last nonnegative iterate, whose sums are nearly one.
    alternating_steps : int or None, default=None
        If given, take so many turns of minimising over C and then over A instead; one is A-DSSC
        with the paper's non-symmetric projection.
    n_components : int or None, default=None
        Number of eigenvectors, `n_clusters` when not given.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are read off the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means.
    tol : float, default=1e-6
        Relative duality gap wanted of the optimum; in float32 gaps below about 1e-5 are out of
        reach. For "linearized-admm" the size of its residuals at which it ends early.
    max_iter : int or None, default=None
        Most iterations: when not given, 400 of "splitting", 50 rounds of "newton", 10 of these in
        "auto", 2000 of "linearized-admm". Given, "auto" runs its first solver alone.
    device : {"cpu", "cuda", "cuda:<number>", "torch"} or None, default=None
        The engine: compiled code on the CPU, torch on a GPU, or torch on the CPU, for comparison;
        "newton" and `alternating_steps` run on the CPU only. None chooses by where X lives, which
        may be a torch tensor. Results are NumPy and SciPy in every case.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start. Pass an int for repeatable labels.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The affinity A.
    representation_matrix_ : ndarray of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of A.
    objective_history_ : ndarray of shape (n_records,)
        The model's value in the course of the iterations.
    eta2_ : float
        The eta2 that was used.
    projection_ : dssc.joint.JointResult
        The solver's result: objective, dual bound, gap, marginal error, overlap of C_p and C_q.
    n_iter_ : int
        Iterations of the solver.
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

    affinity = "doubly_stochastic"  # the other estimators have it as a parameter
    _counts = ("n_clusters", "n_init")

    def __init__(
        self,
        n_clusters=8,
        *,
        eta1=1.0,
        eta2=0.5,
        eta3=0.0,
        solver="auto",
        alternating_steps=None,
        n_components=None,
        assign_labels="kmeans",
        n_init=10,
        tol=1e-6,
        max_iter=None,
        device=None,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.eta1 = eta1
        self.eta2 = eta2
        self.eta3 = eta3
        self.solver = solver
        self.alternating_steps = alternating_steps
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.device = device
        self.random_state = random_state

    def _validated(self, X):
        self._device = torch_device(self.device, X)
        return super()._validated(as_array(X))

    def _solver(self):
        """Return the function that solves the model on the device chosen."""
        if self._device is None:
            return partial(solve_joint, alternating_steps=self.alternating_steps)
        from dssc.gpu.joint import solve_joint_on_device

        return partial(solve_joint_on_device, device=self._device)

    def _express(self, X, rng):
        """Return C, which is learned together with A."""
        result = self._solver()(
            np.ascontiguousarray(X.toarray() if sparse.issparse(X) else X),
            float(self.eta1),
            float(self.eta2),
            float(self.eta3),
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        # The other ways are asked for a number of iterations, not for the optimum.
        wants_optimum = self.solver != "linearized-admm" and self.alternating_steps is None
        if wants_optimum and not result.converged:
            warnings.warn(result.status, ConvergenceWarning, stacklevel=4)
        self.projection_ = result
        self.objective_history_ = result.history
        self.eta2_ = float(self.eta2)
        self.n_iter_ = result.n_iter
        return result.representation

    def _affinity(self, expressed, progress):
        return sparse.csr_array(self.projection_.plan)

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        for name in ("eta1", "eta2"):
            check_positive(name, getattr(self, name))
        check_nonnegative("eta3", self.eta3)
        for name in ("max_iter", "alternating_steps"):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name))
        if self.solver not in SOLVERS:
            names = " or ".join(repr(name) for name in SOLVERS)
            raise ValueError(f"solver={self.solver!r} must be {names}")
        on_device = self.solver != "newton" and self.alternating_steps is None
        if self._device is not None and not on_device:
            raise ValueError(
                f"solver={self.solver!r} with alternating_steps={self.alternating_steps!r} runs on "
                "the CPU only; use device='cpu', or solver='splitting' without alternating_steps"
            )

    def __getstate__(self):
        state = {**super().__getstate__()}
        state.pop("_device", None)
        return state
