"""Newton's steps of the joint model's transport problem, on a device."""

from functools import partial

import torch

from dssc.gpu.conjugate_gradients import ConjugateGradients
from dssc.gpu.graph import index_type
from dssc.gpu.sums import kernels_for
from dssc.joint.transport import CG_STEPS, Candidates, Cost, newton_terms


class DeviceNewton:
    """What :class:`dssc.joint.transport.Newton` does, with everything on the device.

    The pattern is that of all candidates; entries of A that are zero have a slope of zero.
    """

    def __init__(self, cost: Cost, candidates: Candidates):
        self.cost, self.candidates = cost, candidates
        self.n = n = cost.model.n
        keys = candidates.keys
        self.lines = cost.lines()
        self.rows, self.columns = keys // n, keys % n
        self.off_diagonal = self.rows != self.columns
        by_column, self.order = torch.sort(self.columns, stable=True)
        starts = torch.arange(n + 1, device=keys.device)
        self.indptr = torch.searchsorted(keys, starts * n)
        self.column_indptr = torch.searchsorted(by_column, starts)
        self.system = _System(self)

    def join(self, potentials):
        """Return both potentials as one vector."""
        return torch.cat(potentials)

    def evaluate(self, w):
        """Return A and what its sums lack; keep its slopes where it is positive."""
        (between, by_size, shift), (without, _, _), (free, _, free_shift) = self.lines.tolist()
        p = w[self.rows] + w[self.columns + self.n]
        if self.cost.damping > 0.0:
            p.add_(self.candidates.last, alpha=self.cost.damping)
        A = without * p
        slopes = torch.full_like(A, without)
        others = [(between, between * p + by_size * self.candidates.sizes + shift)]
        if free > 0.0:
            others.append((free, free * p + free_shift))
        for slope, line in others:
            higher = self.off_diagonal & (line > A)
            A = torch.where(higher, line, A)
            slopes.masked_fill_(higher, slope)
        self.slopes = slopes.masked_fill_(A <= 0.0, 0.0)
        A.clamp_(min=0.0)
        return A, 1.0 - torch.cat(self.sums(A))

    def sums(self, values):
        """Return the sums of rows and those of columns."""
        return (
            torch.segment_reduce(values, "sum", offsets=self.indptr),
            torch.segment_reduce(values[self.order], "sum", offsets=self.column_indptr),
        )

    def direction(self, missing):
        """Solve the Newton system, regularised in proportion to what is missing."""
        least, regular, tol = newton_terms(self.lines, missing)
        diagonals = (x.clamp_(min=least).mul_(regular) for x in self.sums(self.slopes))
        return self.system.solve(self.slopes, diagonals, missing, tol)


class _System:
    """Newton's system for one pattern. Rows are eliminated; conjugate gradients do the rest."""

    def __init__(self, newton: DeviceNewton):
        self.n, self.order = newton.n, newton.order
        values = newton.candidates.sizes
        self.by_row, self.by_column = values.new_empty((2, newton.n))
        parts = [
            (newton.indptr, newton.columns),
            (newton.column_indptr, newton.rows[newton.order]),
        ]
        index = index_type(len(values))
        self.S, self.S_T = (
            (indptr.to(index), others.to(index), torch.empty_like(values))
            for indptr, others in parts
        )
        self.product = kernels_for(values.device).product
        held = self.S, self.S_T, self.by_row, self.by_column
        multiply = partial(_multiply, self.product, *held)
        self.gradients = ConjugateGradients(multiply, self.by_column, recorded=True)

    def solve(self, slopes, diagonals, missing, tol):
        """Return the direction for entries' slopes and the diagonals of rows and columns."""
        self.S[2].copy_(slopes)
        torch.index_select(slopes, 0, self.order, out=self.S_T[2])
        for held, diagonal in zip((self.by_row, self.by_column), diagonals, strict=True):
            held.copy_(diagonal)
        rows, columns = missing[: self.n], missing[self.n :]
        rhs = columns - self.product(self.S_T, rows / self.by_row)
        b, _ = self.gradients.solve(rhs, tol, CG_STEPS)
        return torch.cat([(rows - self.product(self.S, b)) / self.by_row, b])


def _multiply(product, S, S_T, by_row, by_column, x):
    """Return the system without its rows, times x. No method: a cycle of objects lives too long."""
    inner = product(S, x).div_(by_row)
    return torch.addcmul(product(S_T, inner).neg_(), by_column, x)
