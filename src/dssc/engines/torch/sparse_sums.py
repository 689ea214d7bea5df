"""Sums over the rows of sparse matrices; the plain version of :mod:`.sparse_sums_triton`."""

import sys
from contextlib import suppress
from types import ModuleType

import torch
from torch import Tensor

from dssc.engines.torch.conjugate_gradients import ConjugateGradients
from dssc.engines.torch.graph import TorchCsr, TorchGraph, multiplication
from dssc.stochastic.dual import LinearSolution


def kernels_for(device: torch.device) -> ModuleType:
    """Return the module that computes these sums on a device."""
    if device.type == "cuda":
        with suppress(ImportError):
            from dssc.engines.torch import sparse_sums_triton

            return sparse_sums_triton
    return sys.modules[__name__]


def positive_parts(graph: TorchGraph, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return sums and counts of the positive ``values - w_i - w_j`` by row, and marks of them."""
    slack = graph.slack(w)
    positive = slack > 0
    sums = graph.row_sums(torch.where(positive, slack, 0.0))
    return sums, graph.row_sums(positive.double()), positive


def row_thresholds(graph: TorchGraph, w: Tensor, targets: Tensor) -> Tensor:
    """Return t with ``sum_j [values_ij - w_j - t_i]_+ = targets_i`` for every row."""
    entries = graph.values - w[graph.columns]
    t = torch.segment_reduce(entries, "max", offsets=graph.indptr) - targets
    counts = torch.zeros_like(t)
    while True:  # Michelot's iteration: t can only rise, and ends exactly
        excess = entries - t[graph.rows]
        above = (excess > 0).double()
        total, now = graph.row_sums(excess * above), graph.row_sums(above)
        if torch.equal(now, counts):
            return t
        counts = now
        t = torch.where(total > targets, t + (total - targets) / now, t)


class NewtonSystem:
    """The systems ``(diag(diagonal) + S) x = rhs`` for subsets S of the pattern of one graph."""

    def __init__(self, graph: TorchGraph):
        self.graph = graph

    def solve_for(
        self, positive: Tensor, diagonal: Tensor, rhs: Tensor, tol: float, max_steps: int
    ) -> LinearSolution:
        """Solve for the entries that are marked, and a diagonal."""
        graph = self.graph
        multiply = multiplication(graph.indptr, graph.columns, positive.double(), graph.n_rows)
        gradients = ConjugateGradients(lambda x: torch.addcmul(multiply(x), diagonal, x), diagonal)
        return gradients.solve(rhs, tol, max_steps)


def product(csr: TorchCsr, x: Tensor) -> Tensor:
    """Return a CSR matrix times a vector."""
    return multiplication(*csr, len(x))(x)


def combination(
    csr: TorchCsr,
    X: Tensor,
    scale: float,
    shift: float,
    previous: Tensor | None = None,
    weight: float = 0.0,
) -> Tensor:
    """Return ``scale A X + shift X + weight previous``."""
    product = multiplication(*csr, len(X))(X).mul_(scale)
    if shift:
        product.add_(X, alpha=shift)
    return product if previous is None else product.add_(previous, alpha=weight)
