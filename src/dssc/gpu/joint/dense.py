"""What the splitting does to whole matrices, on a device."""

from typing import Any

import torch

from dssc.gpu.joint.blocks import blocks
from dssc.gpu.joint.model import DeviceModel, least_squares
from dssc.gpu.joint.similarity import keys_above, largest_keys
from dssc.gpu.joint.transport import DeviceNewton
from dssc.joint.acceleration import MEMORY
from dssc.joint.dense import RELAXATION
from dssc.joint.entries import Entries


class DeviceEngine:
    """z, Y and F as tensors, and the proximal step of the fit; see :mod:`dssc.joint.dense`."""

    fit: Any
    Y: Any
    F: Any

    def __init__(self, model: DeviceModel):
        self.model = model
        self.blocks = blocks(model.n)
        self.n_pairs = MEMORY

    def start(self):
        """Return the self-expression by least squares."""
        return least_squares(self.model.X, self.model.eta1).contiguous()

    def weigh(self, rho):
        """Take a new weight of the proximal terms."""
        X = self.model.X
        self.rho = rho
        self.release()
        self.fit = (_Gram if len(X) < 2 * X.shape[1] else _Features)(X, rho)
        self.Y, self.F = (X.new_empty((len(X), len(X))) for _ in range(2))

    def release(self):
        """Let go of everything that a step makes anew."""
        self.fit = self.Y = self.F = None

    def store(self):
        """Return matrices to remember steps in, two for each."""
        return [torch.empty_like(self.Y, dtype=torch.float32) for _ in range(2 * self.n_pairs)]

    def largest(self, z, count):
        """Return keys ``i n + j`` of the diagonal and of rows' and columns' largest entries."""
        return largest_keys(z, count)

    def sizes(self, z, keys):
        """Return magnitudes of entries, zero on the diagonal."""
        return z.view(-1)[keys].abs().double().masked_fill_(keys % (len(z) + 1) == 0, 0.0)

    def candidates(self, z, rows, columns, limit):
        """Return keys of places with ``|z| + rows + columns > limit`` or ``rows + columns > 0``.

        Places on the diagonal always count.
        """
        return keys_above(z, rows, columns, limit)

    def array(self, x):
        """Return an array as it is held here."""
        return torch.as_tensor(x, device=self.model.X.device)

    def combined(self, parts):
        """Return the sum of entries, from pairs of a weight and entries; all places are kept."""
        keys, at = torch.unique(torch.cat([e.keys for _, e in parts]), return_inverse=True)
        values = torch.cat([weight * e.values for weight, e in parts])
        return Entries(keys, values.new_zeros(len(keys)).index_add_(0, at, values))

    def newton(self, cost, candidates):
        """Return what finds A among candidates."""
        return DeviceNewton(cost, candidates)

    def step(self, z, A):
        """Return ``1.6 (C - Y)`` for the Y that belongs to z and entries of A; Y is kept."""
        self._coupling_step(z, A)
        self.fit.step(z, self.Y, self.F)
        self.F.sub_(self.Y).mul_(RELAXATION)
        return self.F

    def _coupling_step(self, z, A):
        """Write the Y that belongs to z and A; first as if A were zero."""
        m, rho = self.model, self.rho
        torch.abs(z, out=self.Y)
        self.Y.mul_(rho).sub_(m.eta3).clamp_(min=0.0).div_(rho + m.eta1)
        sizes = z.view(-1)[A.keys].abs()
        target = m.target(A.values).to(z.dtype)
        moved = sizes.mul(rho).add_(target, alpha=m.eta1).clamp_(min=0.0).div_(rho + m.eta1)
        self.Y.view(-1)[A.keys] = torch.where(sizes <= target, sizes, moved)
        torch.copysign(self.Y, z, out=self.Y)
        self.Y.fill_diagonal_(0.0)

    def lower_bound(self, z, potentials):
        """Return the model's lower bound from C and the potentials."""
        m, F = self.model, self.F
        F.div_(RELAXATION).add_(self.Y)  # C, in the place of F
        products = m.products(m.residual(F))
        F.add_(z).sub_(self.Y, alpha=2.0).mul_(self.rho)  # G = rho (C - W) = (X - C X) X'
        bound = m.lower_bound(products, potentials, F)
        F.mul_(RELAXATION / self.rho).add_(self.Y, alpha=RELAXATION).sub_(z, alpha=RELAXATION)
        return bound


class _Features:
    def __init__(self, X, rho):
        rows = X.double()
        small = rows.T @ rows
        small.diagonal().add_(rho)
        factor = torch.linalg.cholesky(small)
        self.X = X
        self.B_T = torch.cholesky_solve(rows.T, factor).to(X.dtype)

    def step(self, z, Y, out):
        """Write C for ``W = 2 Y - z``."""
        torch.mul(Y, 2.0, out=out).sub_(z)
        out.addmm_(torch.addmm(self.X, out, self.X, alpha=-1.0), self.B_T)


class _Gram:
    def __init__(self, X, rho):
        rows = X.double()
        K = rows @ rows.T
        K.diagonal().add_(rho)
        self.Q = torch.cholesky_inverse(torch.linalg.cholesky(K)).mul_(rho).to(X.dtype)

    def step(self, z, Y, out):
        """Write C for ``W = 2 Y - z``; W is made in the place of Y, which is then restored."""
        Y.mul_(2.0).sub_(z)
        torch.mm(Y, self.Q, out=out).sub_(self.Q).diagonal().add_(1.0)
        Y.add_(z).mul_(0.5)
