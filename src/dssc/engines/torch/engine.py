"""The steps of a fit on a torch device."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dssc._devices import as_array, is_tensor
from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc.engines.cpu import CpuEngine
from dssc.engines.protocol import AffinityGraph, SelfExpression, T
from dssc.engines.torch.dictionary import TorchDictionary
from dssc.engines.torch.graph import TorchCsr, csr_on_device
from dssc.engines.torch.joint import solve_joint_on_device
from dssc.engines.torch.kmeans import device_labels
from dssc.engines.torch.projection_problem import TorchProjection
from dssc.engines.torch.self_expression import TorchExpression
from dssc.engines.torch.spectral import device_embedding, eigenvalues_on_device
from dssc.features import check_no_zero_rows
from dssc.joint import JointResult

# For fewer samples the CPU's spectral step is quick too, and its random numbers give both engines
# the same labels.
SPECTRAL_ON_DEVICE_FROM = 10_000


class TorchEngine:
    """Implements :class:`dssc.engines.protocol.Engine`; small spectral steps run on the CPU."""

    def __init__(self, device: torch.device):
        self.device = device
        self.cpu = CpuEngine()

    def in_use(self) -> AbstractContextManager[Any]:
        """Return a context in which kernels run on this GPU, not on another one."""
        return torch.cuda.device(self.device) if self.device.type == "cuda" else nullcontext()

    def aside(self, call: Callable[[], T]) -> Callable[[], T]:
        """Begin a call in a thread, which mostly waits for the GPU and for main memory."""
        if self.device.type != "cuda":
            return self.cpu.aside(call)

        def on_device() -> T:
            with self.in_use():  # every thread has a current device of its own
                return call()

        pool = ThreadPoolExecutor(1)
        result = pool.submit(on_device)
        pool.shutdown(wait=False)
        return result.result

    def check(self, X: Any) -> Any:
        """Return a tensor that is a matrix of floats with at least two rows."""
        if not is_tensor(X):
            return X
        if X.ndim != 2:
            raise ValueError(f"X must be a matrix; its shape is {tuple(X.shape)}")
        if len(X) < 2:
            raise ValueError(
                f"Found array with {len(X)} sample(s) while a minimum of 2 is required."
            )
        return X if X.dtype in (torch.float32, torch.float64) else X.double()

    def check_model(self, eta3: float, symmetric: bool, weighted: bool) -> None:
        """Refuse weights."""
        if weighted:
            raise ValueError(
                "sample_weight runs on the CPU only; use device='cpu', or leave out the weights"
            )

    def express(
        self,
        X: Any,
        eta1: float,
        symmetric: bool,
        signed: bool,
        progress: Progress,
        weights: Array | None = None,
    ) -> SelfExpression:
        """Express samples by least squares."""
        self.check_model(0.0, symmetric, weights is not None)
        check_no_zero_rows(X)
        return TorchExpression(X, eta1, symmetric, signed, self.device, progress)

    def dictionary(self, X: Matrix) -> TorchDictionary:
        """Return samples of unit norm as a dictionary that is searched on the device."""
        return TorchDictionary(X, self.device)

    def embed(
        self,
        graph: AffinityGraph,
        n_clusters: int,
        n_components: int | None,
        n_exact: int | None,
        rng: np.random.RandomState,
    ) -> Array:
        """Return the leading eigenvectors of a doubly stochastic affinity, made symmetric."""
        if graph.affinity.shape[0] < SPECTRAL_ON_DEVICE_FROM:
            return self.cpu.embed(graph, n_clusters, n_components, n_exact, rng)
        csr = self._on_device(graph)
        return device_embedding(graph.affinity, csr, n_clusters, n_components, n_exact, rng)

    def eigenvalues(self, graph: AffinityGraph, vectors: Array) -> Array:
        """Return the eigenvalues of an affinity that belong to eigenvectors of unit norm."""
        if graph.affinity.shape[0] < SPECTRAL_ON_DEVICE_FROM:
            return self.cpu.eigenvalues(graph, vectors)
        return eigenvalues_on_device(self._on_device(graph), vectors)

    def _on_device(self, graph: AffinityGraph) -> TorchCsr:
        """Return the affinity on the device, where a symmetric projection has left it."""
        if isinstance(graph.projection, TorchProjection):
            return graph.projection.device_plan
        A = sparse.csr_array(graph.affinity)
        return csr_on_device(sparse.csr_array((A + A.T) / 2), self.device)

    def assign(
        self,
        graph: AffinityGraph,
        embedding: Array,
        n_clusters: int,
        method: str,
        n_init: int,
        rng: np.random.RandomState,
    ) -> Array:
        """Return a label for every row of an embedding."""
        if len(embedding) < SPECTRAL_ON_DEVICE_FROM or method != "kmeans":
            return self.cpu.assign(graph, embedding, n_clusters, method, n_init, rng)
        mass = self._mass_of(graph.expression)
        return device_labels(embedding, n_clusters, n_init, mass, rng, self.device)

    def clusterings(
        self,
        graph: AffinityGraph,
        embedding: Array,
        n_clusters: int,
        n_starts: int,
        rng: np.random.RandomState,
    ) -> list[Array]:
        """Return the labels of each of several starts of k-means, of points that are few."""
        return self.cpu.clusterings(graph, embedding, n_clusters, n_starts, rng)

    def _mass_of(self, expression: SelfExpression) -> Callable[[Tensor, Tensor], Tensor]:
        """Return the function that multiplies rows of the similarities with a matrix."""
        if isinstance(expression, TorchExpression):
            return expression.problem.mass

        def mass(rows: Tensor, members: Tensor) -> Tensor:
            similarities = expression.similarities(as_array(rows)) / 2
            return torch.as_tensor(similarities @ as_array(members), device=self.device)

        return mass

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
        """Learn C and A together on the device."""
        if solver == "newton" or alternating_steps is not None:
            raise ValueError(
                f"solver={solver!r} with alternating_steps={alternating_steps!r} runs on the CPU "
                "only; use device='cpu', or solver='splitting' without alternating_steps"
            )
        return solve_joint_on_device(
            X, eta1, eta2, eta3, solver=solver, tol=tol, max_iter=max_iter, device=self.device
        )
