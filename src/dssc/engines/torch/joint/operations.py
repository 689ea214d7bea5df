"""The operations of the joint model on torch tensors.

:mod:`dssc.joint.operations` declares them. Matrices stay on the device; what goes to main memory is
a vector, some entries or a number.
"""

import torch
from torch import Tensor

from dssc._devices import as_array
from dssc._typing import Array
from dssc.engines.torch.joint.coupling_newton import TorchCouplingNewton
from dssc.engines.torch.joint.similarity import (
    BLOCK,
    TorchSimilarity,
    entries_at,
    keys_above,
    largest_keys,
)
from dssc.joint.acceleration import MEMORY
from dssc.joint.blocks import row_blocks
from dssc.joint.coupling import Candidates, CouplingCost, CouplingSolution
from dssc.joint.entries import Entries
from dssc.joint.model import CPU
from dssc.joint.operations import ALL_ROWS, JointOperations
from dssc.joint.penalty import CouplingPenalty
from dssc.stochastic import ProjectionProblem

# Up to this many entries that may be positive, A is found in main memory.
SOLVED_ON_HOST = 1 << 17


class TorchOperations(JointOperations[Tensor]):
    """Operations on tensors of one device."""

    xp = torch
    coupling_newton = TorchCouplingNewton
    entries_at = staticmethod(entries_at)
    keys_above = staticmethod(keys_above)
    largest_keys = staticmethod(largest_keys)

    def __init__(self, device: torch.device):
        self.device = device

    def blocks(self, n_rows: int, n_columns: int) -> list[slice]:
        """Cut rows into large slices, which only limit the temporary memory."""
        return row_blocks(n_rows, n_columns, BLOCK)

    def array(self, x: Array) -> Tensor:
        """Copy an array to the device."""
        return torch.as_tensor(x, device=self.device)

    def magnitudes(self, M: Tensor) -> Tensor:
        """Return |M| in float64."""
        return M.abs().double()

    def sum_of_squares(self, M: Tensor) -> float:
        """Sum a few rows at a time."""
        size = max(1, BLOCK // M.shape[1])
        return sum(float(part.double().square().sum()) for part in M.split(size))

    def inner_products(self, R: Tensor, X: Tensor) -> tuple[float, float]:
        """Return ``<R, X>`` and ``|R|^2``."""
        return float(torch.sum(R * X, dtype=torch.float64)), self.sum_of_squares(R)

    def fill_diagonal(self, M: Tensor, value: float, first_row: int = 0) -> None:
        """Set the diagonal through a view."""
        M.diagonal(first_row).fill_(value)

    def add_to_diagonal(self, M: Tensor, value: float) -> None:
        """Add a number through a view of the diagonal."""
        M.diagonal().add_(value)

    def raise_entries(self, M: Tensor, rows: Array, columns: Array, least: Array) -> None:
        """Raise entries of M to at least the given values."""
        i, j = (torch.as_tensor(k, dtype=torch.int64, device=M.device) for k in (rows, columns))
        M[i, j] = torch.maximum(M[i, j], torch.as_tensor(least, dtype=M.dtype, device=M.device))

    def residual(self, X: Tensor, C: Tensor, rows: slice = ALL_ROWS) -> Tensor:
        """Return rows of ``X - C X``."""
        return torch.addmm(X[rows], C[rows], X, alpha=-1.0)

    def least_squares(self, X: Tensor, eta1: float) -> Tensor:
        """Compute in float64 by the closed form of :func:`dssc.least_squares_representation`."""
        n, d = X.shape
        rows = X.double()
        small = rows @ rows.T if n <= d else rows.T @ rows
        small.diagonal().add_(eta1)
        factor = torch.linalg.cholesky(small)
        if n <= d:
            C = torch.cholesky_inverse(factor)
            C /= -C.diagonal().clone()[:, None]
        else:
            B = torch.linalg.solve_triangular(factor, rows.T, upper=False)
            C = B.T @ B
            C /= (1.0 - C.diagonal().clone())[:, None]
        return C.fill_diagonal_(0.0).to(X.dtype).contiguous()

    def projection_problem(self, W: Tensor) -> ProjectionProblem:
        """Return the problem for a tensor, which is read where it is."""
        return ProjectionProblem(TorchSimilarity(W))

    def summand(self, vector: Tensor, M: Tensor) -> Tensor:
        """Return the vector in the type of M: torch would convert M to float64."""
        return vector.to(M.dtype)

    def add_scaled(self, x: Tensor, y: Tensor, factor: float) -> None:
        """Add ``factor * y`` to x."""
        x.add_(y, alpha=factor)

    def plus_scaled(self, x: Tensor, y: Tensor, factor: float) -> Tensor:
        """Return ``x + factor * y``."""
        return torch.add(x, y, alpha=factor)

    def linearized_step(
        self,
        C_p: Tensor,
        C_q: Tensor,
        A: Tensor,
        direction: Tensor,
        push: tuple[Tensor, Tensor],
        penalty: CouplingPenalty,
        tau: float,
        rho: float,
    ) -> tuple[Tensor, Tensor]:
        """Update a few rows at a time, without waiting for the device."""
        push_rows, push_columns = (part.to(A.dtype) for part in push)
        scale = 1.0 / (penalty.eta1 * penalty.eta2**2 + rho)
        for rows in self.blocks(*A.shape):
            W = _proximal_step(C_p, C_q, A, direction, rows, penalty, tau)
            A_rows = A[rows].mul_(rho).add_(W, alpha=penalty.eta1 * penalty.eta2)
            A_rows.add_(push_rows[rows, None]).add_(push_columns)
            A_rows.mul_(scale).clamp_(min=0.0)
        return A.sum(dim=1, dtype=torch.float64), A.sum(dim=0, dtype=torch.float64)

    def n_remembered(self, X: Tensor) -> int:
        """Return the same number in every precision."""
        return MEMORY

    def empty_square(self, X: Tensor, single: bool = False) -> Tensor:
        """Return an uninitialised n x n tensor."""
        return X.new_empty((len(X), len(X)), dtype=torch.float32 if single else X.dtype)

    def magnitudes_at(self, M: Tensor, keys: Tensor) -> Tensor:
        """Return magnitudes in float64, zero on the diagonal."""
        return M.view(-1)[keys].abs().double().masked_fill_(keys % (len(M) + 1) == 0, 0.0)

    def weighted_sum(self, terms: list[tuple[float, Entries[Tensor]]]) -> Entries[Tensor]:
        """Add the terms by key."""
        keys, at = torch.unique(torch.cat([e.keys for _, e in terms]), return_inverse=True)
        values = torch.cat([weight * e.values for weight, e in terms])
        return Entries(keys, values.new_zeros(len(keys)).index_add_(0, at, values))

    def solve_coupling(
        self,
        cost: CouplingCost,
        candidates: Candidates[Tensor],
        start: Tensor,
        tol: float,
        max_steps: int,
    ) -> CouplingSolution[Tensor]:
        """Solve for few candidates in main memory: launching kernels would take longer."""
        if len(candidates.keys) > SOLVED_ON_HOST:
            return super().solve_coupling(cost, candidates, start, tol, max_steps)
        on_host = Candidates(*(as_array(part) for part in candidates))
        solution = CPU.solve_coupling(cost, on_host, as_array(start), tol, max_steps)
        values, alpha, beta = map(self.array, (solution.values, *solution.potentials))
        return CouplingSolution(values, (alpha, beta), solution.error)

    def coupling_step(
        self, z: Tensor, A: Entries[Tensor], penalty: CouplingPenalty, rho: float, out: Tensor
    ) -> None:
        """Write C as if A were zero, then replace the entries where it is not."""
        eta1 = penalty.eta1
        torch.abs(z, out=out)
        out.mul_(rho).sub_(penalty.eta3).clamp_(min=0.0).div_(rho + eta1)
        sizes = z.view(-1)[A.keys].abs()
        target = penalty.target(A.values).to(z.dtype)
        shrunk = sizes.mul(rho).add_(target, alpha=eta1).clamp_(min=0.0).div_(rho + eta1)
        out.view(-1)[A.keys] = torch.where(sizes <= target, sizes, shrunk)
        torch.copysign(out, z, out=out)
        out.fill_diagonal_(0.0)

    def ridge_coefficients(self, X: Tensor, rho: float) -> Tensor:
        """Factorise the d x d matrix."""
        rows = X.double()
        small = rows.T @ rows
        small.diagonal().add_(rho)
        return torch.cholesky_solve(rows.T, torch.linalg.cholesky(small)).to(X.dtype)

    def ridge_inverse(self, X: Tensor, rho: float) -> Tensor:
        """Invert the n x n matrix by its Cholesky factor."""
        rows = X.double()
        K = rows @ rows.T
        K.diagonal().add_(rho)
        return torch.cholesky_inverse(torch.linalg.cholesky(K)).mul_(rho).to(X.dtype)

    def add_product(self, A: Tensor, B: Tensor, out: Tensor) -> None:
        """Add the product."""
        out.addmm_(A, B)


def _proximal_step(
    C_p: Tensor,
    C_q: Tensor,
    A: Tensor,
    direction: Tensor,
    rows: slice,
    penalty: CouplingPenalty,
    tau: float,
) -> Tensor:
    """Take the proximal step in rows of C_p and C_q; return these rows of ``C_p + C_q``.

    The rows of `direction` are overwritten by ``C_p - C_q``.
    """
    eta1 = penalty.eta1
    shrink = 1.0 / (1.0 + tau * eta1)
    p, q, step = C_p[rows], C_q[rows], direction[rows]
    drift = A[rows].mul(eta1 * penalty.eta2 * tau).sub_(tau * penalty.eta3)
    new_q = torch.sub(q, step, alpha=tau).sub_(p, alpha=tau * eta1).add_(drift)
    p.add_(step, alpha=tau).sub_(q, alpha=tau * eta1).add_(drift)
    p.mul_(shrink).clamp_(min=0.0)
    torch.clamp(new_q.mul_(shrink), min=0.0, out=q)
    for M in (p, q):
        M.diagonal(rows.start).zero_()
    torch.sub(p, q, out=step)
    return torch.add(p, q, out=drift)
