"""The joint model with its matrices on a device."""

import numpy as np
import torch

from dssc.gpu.joint.blocks import BLOCK, blocks
from dssc.gpu.joint.similarity import DeviceSimilarity, entries_at
from dssc.joint.model import PROJECTION_TOL, JointModel, entries
from dssc.stochastic import ProjectionProblem


class DeviceModel(JointModel):
    """:class:`dssc.joint.JointModel` with X, and every n x n matrix, a tensor on a device.

    A is sparse and small, so A, potentials and the proof's arithmetic on them stay in main memory.
    """

    def residual(self, C):
        """Return ``X - C X``."""
        return torch.addmm(self.X, C, self.X, alpha=-1.0)

    def objective(self, C, A, residual=None) -> float:
        """Return the model's value at (C, A) with the best W."""
        R = self.residual(C) if residual is None else residual
        value = 0.5 * _square(R) + 0.5 * self.eta1 * _square(C)
        if self.eta3 > 0.0:
            value += self.eta3 * float(C.abs().sum(dtype=torch.float64))
        i, j, a = entries(A)
        off = i != j
        c = np.abs(entries_at(C, i[off], j[off])).astype(np.float64)
        at = np.maximum(c, self.target(a[off]))
        value += float(np.sum(self._penalty(at, a[off]) - self._penalty(c, 0.0)))
        return value + 0.5 * self.eta1 * self.eta2**2 * float(np.sum(a[~off] ** 2))

    def best_W(self, C, A):
        """Return ``max(|C|, eta2 A - eta3 / eta1)`` with a zero diagonal."""
        W = C.abs()
        i, j, a = entries(A)
        at = tuple(torch.as_tensor(k, dtype=torch.int64, device=W.device) for k in (i, j))
        target = torch.as_tensor(self.target(a), dtype=W.dtype, device=W.device)
        W[at] = torch.maximum(W[at], target)
        return W.fill_diagonal_(0.0)

    def project(self, W, potentials=None):
        """Return the doubly stochastic projection of W: the best A for it."""
        problem = ProjectionProblem(DeviceSimilarity(W))
        return problem.solve(self.eta2, tol=PROJECTION_TOL, potentials=potentials)

    def overlap(self, C, A):
        """Return the entries ``min(C_p, C_q) > 0`` of the best splitting of C."""
        i, j, a = entries(A)
        off = i != j
        excess = (self.target(a[off]) - np.abs(entries_at(C, i[off], j[off]))) / 2
        return excess[excess > 0.0]

    def products(self, R, rows=slice(None)):
        """Return ``<R, X>`` and ``|R|^2``, R a residual or some rows of one."""
        return float(torch.sum(R * self.X[rows], dtype=torch.float64)), _square(R)

    def _caps(self, G, share, other):
        other = torch.as_tensor(other, device=G.device)
        caps = torch.empty_like(other)
        for rows in blocks(self.n):
            room = G[rows].abs().double().mul_(-share).add_(self.eta3).mul_(self.eta2).sub_(other)
            room.diagonal(rows.start).fill_(torch.inf)
            caps[rows] = room.amin(dim=1)
        return caps.cpu().numpy()

    def _coefficients_value(self, G, share):
        total = 0.0
        for rows in blocks(self.n):
            excess = G[rows].abs().double().mul_(share).sub_(self.eta3).clamp_(min=0.0)
            excess.diagonal(rows.start).zero_()
            total += _square(excess)
        return total / (2 * self.eta1)


def least_squares(X, eta1: float):
    """Return the self-expression by least squares, with a zero diagonal, in the dtype of X.

    See :func:`dssc.least_squares_representation`.
    """
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
    return C.fill_diagonal_(0.0).to(X.dtype)


def _square(x) -> float:
    """Return the sum of squares, accumulated in float64."""
    return sum(float(part.double().square().sum()) for part in x.split(max(1, BLOCK // x.shape[1])))
