"""Newton's steps for A in the proximal step of the coupling, on torch tensors."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor

from dssc.engines.torch.conjugate_gradients import ConjugateGradients
from dssc.engines.torch.graph import TorchCsr, index_type
from dssc.engines.torch.sparse_sums import kernels_for
from dssc.joint.coupling import CG_STEPS, Candidates, CouplingCost, CouplingNewton, regularisation

# The product of a sparse matrix and a vector.
Product: TypeAlias = Callable[[TorchCsr, Tensor], Tensor]


class TorchCouplingNewton(CouplingNewton[Tensor]):
    """A, its sums and Newton's direction, with everything on the device.

    The pattern of the system contains all candidates. Where A is zero its slope is zero.
    """

    def __init__(self, cost: CouplingCost, candidates: Candidates[Tensor], n: int):
        self.candidates, self.n = candidates, n
        self.lines, self.damping = cost.lines(), cost.damping
        keys = candidates.keys
        self.rows, self.columns = keys // n, keys % n
        self.off_diagonal = self.rows != self.columns
        by_column, self.order = torch.sort(self.columns, stable=True)
        starts = torch.arange(n + 1, device=keys.device)
        self.indptr = torch.searchsorted(keys, starts * n)
        self.column_indptr = torch.searchsorted(by_column, starts)
        self.slopes = torch.zeros_like(candidates.sizes)
        self.system = _NewtonSystem(self)

    def evaluate(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Keep the slopes of all candidates."""
        lines = self.lines.tolist()
        (nonzero, by_size, shift), (zero, _, _), (dead_zone, _, dead_zone_shift) = lines
        p = w[self.rows] + w[self.columns + self.n]
        if self.damping > 0.0:
            p.add_(self.candidates.previous, alpha=self.damping)
        A = zero * p
        slopes = torch.full_like(A, zero)
        others = [(nonzero, nonzero * p + by_size * self.candidates.sizes + shift)]
        if dead_zone > 0.0:
            others.append((dead_zone, dead_zone * p + dead_zone_shift))
        for slope, line in others:
            higher = self.off_diagonal & (line > A)
            A = torch.where(higher, line, A)
            slopes.masked_fill_(higher, slope)
        self.slopes = slopes.masked_fill_(A <= 0.0, 0.0)
        A.clamp_(min=0.0)
        return A, 1.0 - torch.cat(self.sums(A))

    def sums(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sums of rows and those of columns."""
        return (
            torch.segment_reduce(values, "sum", offsets=self.indptr),
            torch.segment_reduce(values[self.order], "sum", offsets=self.column_indptr),
        )

    def direction(self, missing: Tensor) -> Tensor:
        """Eliminate the rows, and solve for the columns by conjugate gradients."""
        least, factor, tol = regularisation(self.lines, missing)
        diagonals = (x.clamp_(min=least).mul_(factor) for x in self.sums(self.slopes))
        return self.system.solve(self.slopes, diagonals, missing, tol)


class _NewtonSystem:
    """Newton's system on one pattern, in memory that a recorded solve reads again."""

    def __init__(self, newton: TorchCouplingNewton):
        self.n, self.order = newton.n, newton.order
        values = newton.candidates.sizes
        self.by_row, self.by_column = values.new_empty((2, newton.n))
        parts = [(newton.indptr, newton.columns), (newton.column_indptr, newton.rows[newton.order])]
        index = index_type(len(values))
        self.S, self.S_T = (
            (indptr.to(index), others.to(index), torch.empty_like(values))
            for indptr, others in parts
        )
        self.product: Product = kernels_for(values.device).product
        held = self.S, self.S_T, self.by_row, self.by_column
        multiply = partial(_multiply, self.product, *held)
        self.gradients = ConjugateGradients(multiply, self.by_column, recorded=True)

    def solve(
        self, slopes: Tensor, diagonals: Iterable[Tensor], missing: Tensor, tol: float
    ) -> Tensor:
        """Return the direction for the slopes of entries and the diagonals of rows and columns."""
        self.S[2].copy_(slopes)
        torch.index_select(slopes, 0, self.order, out=self.S_T[2])
        for held, diagonal in zip((self.by_row, self.by_column), diagonals, strict=True):
            held.copy_(diagonal)
        rows, columns = missing[: self.n], missing[self.n :]
        rhs = columns - self.product(self.S_T, rows / self.by_row)
        b = self.gradients.solve(rhs, tol, CG_STEPS).x
        return torch.cat([(rows - self.product(self.S, b)) / self.by_row, b])


def _multiply(
    product: Product, S: TorchCsr, S_T: TorchCsr, by_row: Tensor, by_column: Tensor, x: Tensor
) -> Tensor:
    """Return the system with rows eliminated, times x.

    This is a function because a bound method would make a cycle of objects, which keeps their
    memory until the next garbage collection.
    """
    inner = product(S, x).div_(by_row)
    return torch.addcmul(product(S_T, inner).neg_(), by_column, x)
