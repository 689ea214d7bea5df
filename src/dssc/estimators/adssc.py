"""A-DSSC: self-expression, then its doubly stochastic projection, then the spectral step."""

import joblib
from sklearn.utils import check_random_state

from dssc._devices import as_array, is_tensor, torch_device
from dssc._progress import Progress
from dssc._validation import check_nonnegative, check_positive
from dssc.estimators.base import COMPONENTS, SubspaceClustering
from dssc.estimators.choosing import Candidate, Choice, choose
from dssc.estimators.elastic_net import check_usable
from dssc.estimators.expressed import ExpressedAsMatrix, express
from dssc.estimators.prediction import Placement, PredictionMixin
from dssc.expression import elastic_net_representation
from dssc.features import check_no_zero_rows, homogeneous, typical_norm, unit_norm
from dssc.spectral import faded, fading_components, spectral_embedding

# Where nothing is chosen: given eta2, with an l1 penalty, without the number of clusters.
DEFAULT_ETA1, DEFAULT_NEIGHBORS = 1.0, 12
FEWEST = 60  # points to choose on

# Of fewer samples the CPU's spectral step is quick too, and its random numbers give both engines
# the same labels.
SPECTRAL_ON_DEVICE_FROM = 10_000


class ADSSC(PredictionMixin, SubspaceClustering):
    r"""Approximate doubly stochastic subspace clustering (A-DSSC).

    Rows of X are scaled to unit norm and expressed by each other, (minC),

    .. math:: C = \arg\min_C \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|C\|_F^2
              + \eta_3 \|C\|_1 \quad \text{subject to } \mathrm{diag}(C) = 0 ;

    the coefficients' magnitudes are projected onto the doubly stochastic matrices, (jminA),

    .. math:: A = \arg\min_A -\langle |C|, A \rangle + \tfrac{\eta_2}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = A^\top 1 = 1 ;

    and A, which needs no further normalisation, is clustered by its leading eigenvectors.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters. None estimates it from A, and warns when the evidence is weak; see
        :func:`dssc.estimate_n_clusters`.
    eta1 : float or None, default=None
        Ridge penalty of the self-expression. Larger values spread a point's coefficients over more
        of the others. By default it is chosen, see Notes.
    eta2 : float, "components" or None, default=None
        Regularisation of the affinity; larger values give more neighbours a point. The right value
        follows the scale of C, which differs by orders of magnitude between data sets, so by
        default the one is found that gives `n_neighbors`. "components" takes the smallest that
        leaves at most `n_clusters` connected components, as the paper suggests.
    eta3 : float, default=0.0
        l1 penalty of the self-expression. Zero gives a dense C in closed form, never formed for
        large data; a positive value gives a sparse one, by the elastic net.
    n_neighbors : int or None, default=None
        Mean number of neighbours of a point in A (entries off the diagonal above 1e-9) that eta2 is
        chosen for; ``min(n_neighbors, n_samples - 1)`` is used. Ignored when `eta2` is given. By
        default it is chosen, see Notes.
    symmetric : bool, default=True
        Whether to project ``(|C| + |C|') / 2``, which is the same as asking for a symmetric A.
        False projects \|C\| as the paper does.
    affine : bool, default=False
        Whether clusters are affine subspaces, which need not pass through the origin. A constant
        coordinate, as large as the norm of a typical point, is added to all points: it turns an
        affine subspace into a linear one of one dimension more, exactly, whereas asking for
        coefficients that sum to one would cost the closed form.
    n_components : int or None, default=None
        Number of eigenvectors. By default ``2 n_clusters + 2`` are taken, of which those after the
        first `n_clusters` count the less the lower their eigenvalues: all but nothing after a clear
        gap. The paper takes `n_clusters`, one more for MNIST.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How labels are read off the eigenvectors; see :func:`dssc.assign_labels`.
    n_init : int, default=10
        Random starts of k-means, unless the labels are chosen with the parameters; see Notes.
    tol : float, default=1e-8
        Tolerance on the row and column sums of A and on its duality gap.
    max_iter : int, default=1000
        Most Newton steps of the projection.
    warm_start : bool, default=False
        Whether to keep what the next `fit` can use. With the same X, `eta1` and `symmetric` it then
        costs a new projection at most, whatever `eta2`, `n_neighbors` or `n_clusters`: the
        similarities found before stay valid, and where another eta2 needs more of them the
        certificate says so and they are read. Keeps X alive; not pickled.
    device : {"cpu", "cuda", "cuda:<number>", "torch"} or None, default=None
        The engine: compiled code on the CPU; torch on a GPU, for `symmetric` and without `eta3`; or
        torch on the CPU, for comparison. None chooses by where X lives, which may be a torch
        tensor. Results are NumPy and SciPy in every case.
    verbose : int, default=0
        1 shows stages, speed and time left on standard error.
    random_state : int, RandomState instance or None, default=None
        Randomness of k-means and of the eigensolver's start. Pass an int for repeatable labels. A
        choice of parameters does not depend on it.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    affinity_matrix_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The doubly stochastic A, in float64.
    representation_matrix_ : ndarray or csr_array of shape (n_samples, n_samples)
        The self-expression C, with ``X ≈ C X`` for the scaled rows, in the dtype of X. From 4,000
        samples on, if there are more samples than features, C is never formed, and this holds its
        entries where A is positive.
    embedding_ : ndarray of shape (n_samples, n_components)
        Leading eigenvectors of A, times their weights.
    n_clusters_ : int
        The number of clusters.
    eigenvalues_ : ndarray
        Leading eigenvalues of A that the number was read from, in falling order, when `n_clusters`
        is None; `cluster_evidence_` is how clearly they speak.
    eta1_, eta2_ : float
        The eta1 and eta2 that were used.
    candidates_ : list of Candidate
        What was chosen among, the best first; see :class:`dssc.estimators.choosing.Candidate`.
    projection_ : dssc.result.ProjectionResult
        The solver's result, with its certificate.
    n_iter_ : int
        Newton steps of the projection.
    timings_ : dict
        Seconds by stage.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features, when X has string names.

    Notes
    -----
    Where `eta1` or `n_neighbors` is open, a few values of it are tried, on a sample of 5,000 points
    where there are more, with eight starts of k-means each. The eta1 is taken with which these
    starts agree best, on clusters of high modularity: where a graph has clear clusters, all of them
    find the same. Then every graph with this eta1 is clustered from 32 starts (eight, of a sample),
    and the clusterings are ranked by their modularity in the mean of these graphs and by how near
    their clusters are to subspaces of dimension 10. The smallest sum of both ranks gives
    n_neighbors, and a vote of the best eight the labels, unless they are those of a sample.
    `candidates_` tells what was tried. Given a number for `eta2`, with ``eta3 > 0``, without
    `n_clusters` and below 60 points nothing is tried: eta1 is 1 then, and n_neighbors 12, where
    they are not given.

    References
    ----------
    Lim, Vidal and Haeffele, "Doubly Stochastic Subspace Clustering", ICCV 2021.

    Examples
    --------
    >>> from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
    >>> X, y = make_union_of_subspaces(n_subspaces=3, random_state=0)
    >>> labels = ADSSC(n_clusters=3, random_state=0).fit_predict(X)
    >>> clustering_accuracy(y, labels)
    1.0
    """

    affinity = "doubly_stochastic"  # the other estimators have it as a parameter
    _optional = ("n_clusters", "n_neighbors")
    _reusable = ("_kept",)

    def __init__(
        self,
        n_clusters=8,
        *,
        eta1=None,
        eta2=None,
        eta3=0.0,
        n_neighbors=None,
        symmetric=True,
        affine=False,
        n_components=None,
        assign_labels="kmeans",
        n_init=10,
        tol=1e-8,
        max_iter=1000,
        warm_start=False,
        device=None,
        verbose=0,
        random_state=None,
    ):
        self.n_clusters = n_clusters
        self.eta1 = eta1
        self.eta2 = eta2
        self.eta3 = eta3
        self.n_neighbors = n_neighbors
        self.symmetric = symmetric
        self.affine = affine
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _progress(self):
        return Progress(self.verbose)

    def _validated(self, X):
        self._device = torch_device(self.device, X)
        if not is_tensor(X):
            return super()._validated(X)
        if self._device is None:
            return super()._validated(X.numpy())
        from dssc.gpu.expressed import checked_tensor

        X = checked_tensor(X)
        self.n_features_in_ = X.shape[1]
        return X

    def _embed(self, expressed, A, k, rng):
        fades = self.n_components is None and self.assign_labels == "kmeans"
        n_components = fading_components(A.shape[0], k) if fades else self.n_components
        if self._spectral_on_device(A.shape[0]):
            U = expressed.embedding(A, k, n_components, rng)
        else:
            U = spectral_embedding(A, k, n_components=n_components, random_state=rng)
        return faded(U, A, k) if fades else U

    def _assign(self, expressed, U, k, rng):
        if self._choice.labels is not None and len(self._choice.labels) == len(U):
            return self._choice.labels
        if not self._spectral_on_device(len(U)) or self.assign_labels != "kmeans":
            return super()._assign(expressed, U, k, rng)
        return expressed.labels(U, k, self.n_init, rng)

    def _labels_from(self, seed, embedding):
        """Return the labels that another start of k-means gives, after a warm `fit`."""
        assert self._kept is not None
        return self._assign(self._kept[1], embedding, self.n_clusters_, check_random_state(seed))

    def _spectral_on_device(self, n_samples):
        return self._device is not None and n_samples >= SPECTRAL_ON_DEVICE_FROM

    def _choose(self, X):
        """Return candidates for what is open; one where nothing is to choose."""
        n_neighbors = self.n_neighbors or (DEFAULT_NEIGHBORS if self.eta2 is None else None)
        is_settled = self.eta1 is not None and (self.n_neighbors or self.eta2) is not None
        is_settled = is_settled or self.eta2 not in (None, COMPONENTS) or self.eta3 != 0
        if is_settled or self.n_clusters is None or X.shape[0] < FEWEST:
            self._chosen = None
            return Choice([Candidate(self.eta1 or DEFAULT_ETA1, n_neighbors)])
        X = as_array(X)
        check_no_zero_rows(X)  # before a sample is drawn, whose rows have other numbers
        parameters = self.get_params()
        for name in ("n_init", "random_state", "verbose"):  # these decide nothing here
            del parameters[name]
        fingerprint = joblib.hash((X, parameters), hash_name="sha1") if self.warm_start else None
        kept = getattr(self, "_chosen", None)
        if fingerprint is None or kept is None or kept[0] != fingerprint:
            kept = fingerprint, choose(self, X)
        self._chosen = (kept[0], kept[1].without_expression()) if self.warm_start else None
        return kept[1]

    def _neighbors_wanted(self):
        return self.candidates_[0].n_neighbors

    def _expressed(self, X, rng, progress):
        """Return the self-expression: the one of the last fit if it was of the same data."""
        self._placement = Placement()
        X = as_array(X) if self.affine else X
        self._height = typical_norm(X) if self.affine else None
        self._fit_X = X = self._lifted(X)
        with progress.stage("choice"):
            choice = self._choose(X)
        self._choice = choice.without_expression()
        self.candidates_ = choice.candidates
        self.eta1_ = float(self.candidates_[0].eta1)
        if not self.warm_start:
            self._kept = None
            return choice.expressed or self._express_anew(X, progress)
        with progress.stage("comparison"):
            parameters = self.eta1_, float(self.eta3), bool(self.symmetric)
            # A tensor counts its own changes; the content of an array has to be looked at.
            data = (X.data_ptr(), X.shape, X._version) if is_tensor(X) else X
            fingerprint = joblib.hash((data, parameters, self.device), hash_name="sha1")
        kept = getattr(self, "_kept", None)
        if kept is None or kept[0] != fingerprint:
            self._kept = None  # frees its memory before more is needed
            expressed = choice.expressed or self._express_anew(X, progress)
            self._kept = kept = fingerprint, expressed
        kept[1].report_to(progress)
        return kept[1]

    def _lifted(self, X):
        return X if self._height is None else homogeneous(X, self._height)

    def _express_anew(self, X, progress):
        if self._device is not None:
            from dssc.gpu.expressed import ExpressedOnDevice

            return ExpressedOnDevice(X, self.eta1_, self._device, progress)
        if self.eta3 == 0:
            return express(X, self.eta1_, self.symmetric, progress)
        with progress.stage("self-expression"):
            return ExpressedAsMatrix(self._express(unit_norm(X), None), self.symmetric)

    def _express(self, X, rng):
        """Return the sparse C of (minC) with an l1 penalty."""
        result = elastic_net_representation(
            X, self.eta1_, float(self.eta3), tol=self.tol, max_iter=self.max_iter
        )
        check_usable(result, f"eta3={self.eta3!r} is so large that C is zero; lower eta3")
        return result.representation

    def _check_parameters(self, n_samples):
        super()._check_parameters(n_samples)
        if self.eta1 is not None:
            check_positive("eta1", self.eta1)
        check_nonnegative("eta3", self.eta3)
        if self._device is not None and (self.eta3 > 0 or not self.symmetric):
            raise ValueError(
                f"eta3={self.eta3!r} with symmetric={self.symmetric!r} runs on the CPU only; leave "
                "eta3=0 and symmetric=True, or use device='cpu'"
            )

    def __getstate__(self):
        state = {**super().__getstate__()}
        for name in ("_kept", "_device", "_choice"):
            state.pop(name, None)
        if "_fit_X" in state:
            state["_fit_X"] = as_array(state["_fit_X"])
        return state
