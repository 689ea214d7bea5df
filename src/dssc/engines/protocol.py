"""What an engine must offer, and what passes between the steps of a fit."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc.expression.dictionary import Dictionary
from dssc.joint import JointResult
from dssc.result import ProjectionResult
from dssc.spectral import StartVectors
from dssc.stochastic import Projectable

T = TypeVar("T")


class SelfExpression(Protocol):
    """The self-expression C of some samples, held in a form that suits its size and engine."""

    @property
    def weights(self) -> Array | None:
        """How often each sample counts, with a mean of one; None if all count the same."""

    @property
    def problem(self) -> Projectable:
        """The similarities to be projected: |C| or its positive part, perhaps made symmetric."""

    def coefficients(self, projection: ProjectionResult | None) -> Matrix:
        """Return C, or only its entries where the projection is positive."""

    def similarities(self, rows: Array) -> Matrix:
        """Return rows of ``K + K'``, perhaps to a few digits only."""


@dataclass(frozen=True)
class AffinityGraph:
    """An affinity between samples, with what it was made from.

    Attributes
    ----------
    affinity : csr_array or ndarray of shape (n_samples, n_samples)
        Nonnegative weights. If samples have weights, its rows and columns sum to these.
    expression : SelfExpression
        The self-expression behind it.
    projection : ProjectionResult or None
        The certified projection that gave a doubly stochastic affinity.
    start : StartVectors or None
        Vectors for an engine to start the eigensolver from, and to replace by its last ones.
    """

    affinity: Matrix
    expression: SelfExpression
    projection: ProjectionResult | None = None
    start: StartVectors | None = None


class Engine(Protocol):
    """Computes the steps of a fit, where its device is.

    Implemented by :class:`dssc.engines.cpu.CpuEngine`,
    `dssc.engines.torch.engine.TorchEngine` and `dssc.engines.dask.engine.DaskEngine`.
    """

    def in_use(self) -> AbstractContextManager[Any]:
        """Return a context in which kernels run on the engine's device."""

    def aside(self, call: Callable[[], T]) -> Callable[[], T]:
        """Begin a call beside the next steps, if it leaves the processor free for them.

        The function that is returned waits for the result.
        """

    def check(self, X: Any) -> Any:
        """Return samples that live on a device, checked; anything else unchanged."""

    def check_model(self, eta3: float, symmetric: bool, weighted: bool) -> None:
        """Raise an error that says what to change if this engine cannot run a model."""

    def express(
        self,
        X: Any,
        eta1: float,
        symmetric: bool,
        signed: bool,
        progress: Progress,
        weights: Array | None = None,
    ) -> SelfExpression:
        """Express samples by each other by least squares, (minC) with eta3 = 0.

        Rows of X are scaled to unit norm. `symmetric` says whether ``(|C| + |C|') / 2`` is to be
        projected, or ``|C|``; `signed` that coefficients below zero count as zero. A sample of
        weight p counts as p copies that do not express each other.
        """

    def dictionary(self, X: Matrix) -> Dictionary:
        """Return samples of unit norm as a dictionary, searched where this engine computes."""

    def embed(
        self,
        graph: AffinityGraph,
        n_clusters: int,
        n_components: int | None,
        n_exact: int | None,
        rng: np.random.RandomState,
    ) -> Array:
        """Return the leading eigenvectors of an affinity, as :func:`dssc.spectral_embedding`."""

    def eigenvalues(self, graph: AffinityGraph, vectors: Array) -> Array:
        """Return the eigenvalues of an affinity that belong to eigenvectors of unit norm."""

    def assign(
        self,
        graph: AffinityGraph,
        embedding: Array,
        n_clusters: int,
        method: str,
        n_init: int,
        rng: np.random.RandomState,
    ) -> Array:
        """Return a label for every row of an embedding, as :func:`dssc.assign_labels`."""

    def clusterings(
        self,
        graph: AffinityGraph,
        embedding: Array,
        n_clusters: int,
        n_starts: int,
        rng: np.random.RandomState,
    ) -> list[Array]:
        """Return the labels of each of several starts of k-means."""

    def solve_joint(
        self,
        X: Array,
        eta1: float,
        eta2: float,
        eta3: float,
        *,
        solver: str,
        alternating_steps: int | None,
        tol: float,
        max_iter: int | None,
    ) -> JointResult:
        """Learn C and A together, (model), from samples of unit norm."""
