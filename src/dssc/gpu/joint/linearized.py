"""The variables of the paper's linearised ADMM on a device."""

import torch

from dssc.gpu.joint.blocks import blocks
from dssc.gpu.joint.model import DeviceModel, least_squares
from dssc.joint.linearized_admm import RHO, TAU, State, SumMultipliers


class DeviceState(State):
    """What :mod:`dssc.joint.linearized_admm` iterates on, and one iteration.

    Everything stays on the device between records; no step waits for the host.
    """

    def __init__(self, model: DeviceModel):
        n, X = model.n, model.X
        C = least_squares(X, model.eta1)
        self.model = model
        self.C_p, self.C_q = C.clamp(min=0.0), (-C).clamp_(min=0.0)
        self.A = torch.full_like(C, 1.0 / (n - 1)).fill_diagonal_(0.0)
        self.sums = SumMultipliers(torch.zeros(n, dtype=torch.float64, device=X.device))
        self.coupling = (_Gram if n < 2 * X.shape[1] else _Features)(X, C)
        self.buffer = C

    def step(self):
        """Take one iteration."""
        self.coupling.gradient(self.C_p, self.C_q, self.buffer)
        for rows in blocks(self.model.n):
            self._minimise_rows(rows)
        self.sums.update(*(self.A.sum(dim=k, dtype=torch.float64) for k in (1, 0)))
        self.coupling.ascend(self.buffer)

    def _minimise_rows(self, rows):
        """Take the proximal step in C_p and C_q and minimise over A, for some rows."""
        m = self.model
        shrink = 1.0 / (1.0 + TAU * m.eta1)
        pull = m.eta1 * m.eta2
        C_p, C_q, A, step = (M[rows] for M in (self.C_p, self.C_q, self.A, self.buffer))
        drift = A.mul(pull * TAU).sub_(TAU * m.eta3)
        q = torch.sub(C_q, step, alpha=TAU).sub_(C_p, alpha=TAU * m.eta1).add_(drift)
        C_p.add_(step, alpha=TAU).sub_(C_q, alpha=TAU * m.eta1).add_(drift)
        C_p.mul_(shrink).clamp_(min=0.0)
        torch.clamp(q.mul_(shrink), min=0.0, out=C_q)
        for M in (C_p, C_q):
            M.diagonal(rows.start).zero_()
        torch.sub(C_p, C_q, out=step)
        torch.add(C_p, C_q, out=drift)
        A.mul_(RHO).add_(drift, alpha=pull)
        push_rows, push_columns = (part.to(A.dtype) for part in self.sums.push)
        A.add_(push_rows[rows, None]).add_(push_columns)
        A.mul_(1.0 / (m.eta1 * m.eta2**2 + RHO)).clamp_(min=0.0)

    def residuals(self):
        """Return the largest violations of the constraints and of the optimality conditions."""
        m = self.model
        C = self.C_p - self.C_q
        Z = self.coupling.Z(C)
        primal = max(self.sums.violation(), float((Z - C @ m.X).abs().max()))
        G = torch.mm(m.X - Z, m.X.T, out=C)
        push_rows, push_columns = (x.to(C.dtype) for x in (self.sums.rows, self.sums.columns))
        dual = 0.0
        for rows in blocks(m.n):
            C_p, C_q, A = self.C_p[rows], self.C_q[rows], self.A[rows]
            slope = m.eta1 * (C_p + C_q - m.eta2 * A)
            push = -m.eta2 * slope - push_rows[rows, None] - push_columns
            parts = [
                _violation(C_p, slope + m.eta3 - G[rows], rows.start),
                _violation(C_q, slope + m.eta3 + G[rows], rows.start),
                _violation(A, push, None),
            ]
            dual = max(dual, *parts)
        return primal, dual

    def splitting(self):
        """Hand over C_p, C_q and A as arrays in main memory."""
        self.buffer = self.coupling = None
        return tuple(M.cpu().numpy() for M in (self.C_p, self.C_q, self.A))


def _violation(x, slope, diagonal):
    """Return how far ``x >= 0`` is from minimal; entries of a fixed diagonal do not count."""
    wrong = torch.where(x > 0, slope.abs(), slope.neg().clamp_(min=0.0))
    if diagonal is not None:
        wrong.diagonal(diagonal).zero_()
    return float(wrong.max())


class _Features:
    """Z and Lambda_2 as they are: two products with X an iteration."""

    def __init__(self, X, C):
        self.X = X
        self._Z = X.clone()  # that is X - Lambda_2, which is Z after the first iteration
        self.D = -RHO * (C @ X)

    def gradient(self, C_p, C_q, out):
        """Write ``(Lambda_2 - rho (C X - Z)) X'``, the direction in which C descends."""
        torch.mm(self.D, self.X.T, out=out)

    def ascend(self, C):
        """Minimise over Z and ascend in Lambda_2."""
        CX = torch.mm(C, self.X, out=self.D)
        self._Z.add_(CX, alpha=RHO).div_(1 + RHO)
        self.D = torch.sub(self.X, self._Z, alpha=1 - RHO).sub_(CX, alpha=RHO)

    def Z(self, C):
        """Return Z."""
        return self._Z


class _Gram:
    """Z and Lambda_2 as coefficients of the rows of X: one product with the Gram matrix."""

    def __init__(self, X, C):
        self.X = X
        self.K = X @ X.T
        self.D = -RHO * C
        self.extra = RHO  # Lambda_2 starts at zero and not at X - Z: what D lacks afterwards

    def gradient(self, C_p, C_q, out):
        """Write ``(Lambda_2 - rho (C X - Z)) X'``, the direction in which C descends."""
        torch.mm(self.D, self.K, out=out)
        self.D.add_(C_p, alpha=RHO).sub_(C_q, alpha=RHO)
        self.D.diagonal().add_(self.extra)
        self.extra = 0.0

    def ascend(self, C):
        """Minimise over Z and ascend in Lambda_2."""
        self.D.sub_(C, alpha=2 * RHO)
        self.D.diagonal().add_(RHO)
        self.D.div_(1 + RHO)

    def Z(self, C):
        """Return Z."""
        coefficients = torch.add(self.D, C, alpha=RHO).neg_()
        coefficients.diagonal().add_(1.0)
        return (coefficients @ self.X).div_(1 - RHO)
