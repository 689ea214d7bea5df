r"""The convex model of J-DSSC, (model) in the paper, and a lower bound for it.

In row notation, with ``C = C_p - C_q`` and ``W = C_p + C_q``, it is

.. math:: \min_{C, W, A} \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|W - \eta_2 A\|_F^2
          + \eta_3 \sum_{ij} W_{ij}
          \quad \text{subject to } W \ge |C|, \; W_{ii} = 0, \; A \in \Omega_n .

**Without W.** For given C and A every entry of W minimises a parabola with its lowest point at
``T = eta2 A - eta3 / eta1``, so ``W = max(|C|, T)``. What is left is a penalty of (C, A) with a
dead zone: ``eta1 / 2 (W - T)^2`` and a term in A alone, so no slope in C while ``|C| < T``.
``C_p`` and ``C_q`` overlap exactly in the dead zone, by ``(T - |C|) / 2``.

**The dual.** Give the residual ``R = X - C X`` the multiplier L (n x d) and the sums of A the
multipliers a and b; write ``G = L X'`` and ``p_ij = a_i + b_j``. For any (C, W, A) that is
feasible,

    objective >= <L, X> - |L|^2 / 2 + sum(a) + sum(b)
                 + sum_ij inf { -G C + eta1 / 2 (W - eta2 A)^2 + eta3 W - p A } ,

each infimum over ``W >= |C|`` and ``A >= 0``: the quadratic in R is at least its tangent, and the
sums of A are one. Take ``C = W sign(G)``. Off the diagonal the infimum is finite only where moving
W and ``eta2 A`` up together does not pay, ``p_ij <= eta2 (eta3 - |G_ij|)``; there it is
``-[|G| - eta3]_+^2 / (2 eta1)``, at A = 0, or ``-[p]_+^2 / (2 eta1 eta2^2)``, at W = 0; at most one
of the two is not zero. On the diagonal, where C = W = 0, it is the latter for any p. So

    dual(L, a, b) = <L, X> - |L|^2 / 2 + sum(a) + sum(b)
                    - sum_{i != j} [|G_ij| - eta3]_+^2 / (2 eta1)
                    - sum_ij [p_ij]_+^2 / (2 eta1 eta2^2)

bounds the optimum from below for every L, a, b with ``a_i + b_j <= eta2 (eta3 - |G_ij|)``.

**A feasible point from an iterate.** L is the residual, or a part of it. Given L and b the dual
falls into one concave function of each a_i on a half-line, whose best point is known: the bound
itself, or the point where ``sum_j [a_i + b_j]_+ = eta1 eta2^2`` if that comes first. The same
holds for b given a. Both steps make a feasible point of any potentials, and at the optimum they
leave it unchanged.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc.stochastic import ProjectionProblem
from dssc.stochastic.certificate import round_to_feasible

PROJECTION_TOL = 1e-9
BLOCK = 1 << 18  # entries of a matrix worked on at once: few, so that they stay in the cache
# Parts of the residual tried as the dual's L. Near the optimum the whole is best.
SHARES = (1.0, 0.999, 0.98, 0.9, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class JointModel:
    """The data and parameters of one joint problem; rows of X are samples."""

    X: Any  # an array; a tensor where a device holds the matrices
    eta1: float
    eta2: float
    eta3: float

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.X)

    def residual(self, C) -> np.ndarray:
        """Return ``X - C X``."""
        R = C @ self.X
        np.subtract(self.X, R, out=R)
        return R

    def target(self, A):
        """Return ``eta2 A - eta3 / eta1``, the W that entries of A ask for."""
        return self.eta2 * A - self.eta3 / self.eta1

    def objective(self, C, A, residual=None) -> float:
        """Return the model's value at (C, A) with the best W; A is sparse, the diagonal of C zero.

        Where A is zero W is the magnitude of C, so only the entries of A need a second look.
        """
        norm2 = self.fit_products(C)[1] if residual is None else _square(residual)
        value = 0.5 * norm2
        for rows in blocks(self.n):
            c = C[rows].astype(np.float64, copy=False)
            value += 0.5 * self.eta1 * _square(c)
            if self.eta3 > 0.0:
                value += self.eta3 * float(np.sum(np.abs(c)))
        i, j, a = entries(A)
        off = i != j
        c = np.abs(C[i[off], j[off]]).astype(np.float64)
        at = np.maximum(c, self.target(a[off]))
        value += float(np.sum(self._penalty(at, a[off]) - self._penalty(c, 0.0)))
        return value + 0.5 * self.eta1 * self.eta2**2 * _square(a[~off])

    def _penalty(self, w, a):
        return 0.5 * self.eta1 * (w - self.eta2 * a) ** 2 + self.eta3 * w

    def best_W(self, C, A) -> np.ndarray:
        """Return ``max(|C|, eta2 A - eta3 / eta1)`` with a zero diagonal, in the dtype of C."""
        W = np.abs(C)
        i, j, a = entries(A)
        W[i, j] = np.maximum(W[i, j], self.target(a))
        np.fill_diagonal(W, 0.0)
        return W

    def project(self, W, potentials=None):
        """Return the doubly stochastic projection of W: the best A for it."""
        problem = ProjectionProblem(W)
        return problem.solve(self.eta2, tol=PROJECTION_TOL, potentials=potentials)

    def overlap(self, C, A) -> np.ndarray:
        """Return the entries ``min(C_p, C_q) > 0`` of the best splitting of C."""
        i, j, a = entries(A)
        off = i != j
        excess = (self.target(a[off]) - np.abs(C[i[off], j[off]])) / 2
        return excess[excess > 0.0]

    def dual_value(self, L, a, b, G=None) -> float:
        """Return the dual's value, minus infinity where (L, a, b) is not feasible.

        Feasible up to rounding: a bound may be exceeded by a few units in the last place.
        """
        G = L @ self.X.T if G is None else G
        caps = self._caps(G, 1.0, b)
        if np.any(a > caps + 8 * np.finfo(G.dtype).eps * (np.abs(a) + np.abs(caps) + 1.0)):
            return -np.inf
        inner, norm2 = self.products(L)
        linear = inner - 0.5 * norm2
        return linear + self._potentials_value(a, b) - self._coefficients_value(G, 1.0)

    def lower_bound(self, products, potentials, G):
        """Return the best dual value found from an iterate, and its feasible (share, a, b).

        `products` are those of the iterate's residual R with X and itself, G is ``R X'``.
        Potentials are the model's (a, b), not those of a projection.
        """
        inner, norm2 = products
        best = (-np.inf, 1.0, *potentials)
        for share in SHARES:
            a, b = self.feasible_potentials(G, share, potentials)
            value = share * inner - 0.5 * share**2 * norm2 + self._potentials_value(a, b)
            value -= self._coefficients_value(G, share)
            if value <= best[0]:
                break
            best = (value, share, a, b)
        return best[0], best[1:]

    def products(self, R, rows=slice(None)):
        """Return ``<R, X>`` and ``|R|^2``, R a residual or some rows of one."""
        return float(np.einsum("ij,ij->", R, self.X[rows], dtype=np.float64)), _square(R)

    def fit_products(self, C):
        """Return the products of ``R = X - C X``, of which a few rows are held at a time."""
        inner = norm2 = 0.0
        for rows in blocks(self.n, self.X.shape[1]):
            part = self.products(self.X[rows] - C[rows] @ self.X, rows)
            inner, norm2 = inner + part[0], norm2 + part[1]
        return inner, norm2

    def feasible_potentials(self, G, share, potentials):
        """Return the best a for the given b, then the best b for that a, both feasible."""
        _, b = potentials
        a = self._best_given(self._caps(G, share, b), b)
        b = self._best_given(self._caps(G.T, share, a), a)
        return a, b

    def _caps(self, G, share, other):
        """Return for every row the largest potential the constraints allow."""
        caps = np.empty(len(G))
        for rows in blocks(len(G)):
            room = self.eta2 * (self.eta3 - share * np.abs(G[rows]).astype(np.float64)) - other
            at = np.arange(rows.start, rows.stop)
            room[at - rows.start, at] = np.inf
            caps[rows] = room.min(axis=1)
        return caps

    def _best_given(self, caps, other):
        """Return ``min(cap, t)``, t where ``sum_j [t + other_j]_+`` reaches its price."""
        price = self.eta1 * self.eta2**2
        ordered = -np.sort(-other)
        partial = np.cumsum(ordered)
        counts = np.arange(1, len(other) + 1)
        t = (price - partial) / counts
        n_positive = counts[t + ordered > 0.0].max()
        return np.minimum(caps, t[n_positive - 1])

    def _potentials_value(self, a, b):
        """Return ``sum(a) + sum(b)`` less the price of pairs with a positive sum."""
        order = np.sort(b)
        suffix = np.concatenate([np.cumsum(order[::-1])[::-1], [0.0]])
        suffix2 = np.concatenate([np.cumsum(order[::-1] ** 2)[::-1], [0.0]])
        first = np.searchsorted(order, -a, side="right")
        counts = len(b) - first
        squares = counts * a**2 + 2 * a * suffix[first] + suffix2[first]
        price = 2 * self.eta1 * self.eta2**2
        return float(a.sum() + b.sum() - np.maximum(squares, 0.0).sum() / price)

    def _coefficients_value(self, G, share):
        total = 0.0
        for rows in blocks(len(G)):
            excess = share * np.abs(G[rows]).astype(np.float64)
            at = np.arange(rows.start, rows.stop)
            excess[at - rows.start, at] = 0.0
            excess -= self.eta3
            np.maximum(excess, 0.0, out=excess)
            total += _square(excess)
        return total / (2 * self.eta1)

    def upper_bound(self, C, A, residual=None) -> float:
        """Return the objective at C and at A rounded to exact double stochasticity."""
        ones = np.ones(self.n)
        scaled, (rows, columns, mass) = round_to_feasible(sparse.csr_array(A), (ones, ones))
        rest = sparse.csr_array((mass, (rows, columns)), shape=scaled.shape)
        return self.objective(C, scaled + rest, residual)


def entries(A):
    """Return rows, columns and values of the stored entries of a matrix."""
    A = sparse.coo_array(A)
    return A.row, A.col, A.data.astype(np.float64, copy=False)


def largest(M, count):
    """Return keys ``i n + j`` of the diagonal and of each row's and column's largest magnitudes."""
    n = len(M)
    count = min(count, n - 1)
    found = [np.arange(n) * (n + 1)]
    for transposed in (False, True):
        part = M.T if transposed else M
        for rows in blocks(n):
            size = np.abs(part[rows], order="C")
            at = np.arange(rows.start, rows.stop)
            size[at - rows.start, at] = -np.inf
            columns = np.empty((len(at), count), dtype=np.int64)
            kernels.select("cpu").top_k(size, count, np.empty(columns.shape, M.dtype), columns)
            i, j = np.repeat(at, count), columns.ravel()
            found.append(j * n + i if transposed else i * n + j)
    return np.unique(np.concatenate(found))


def blocks(n: int, width: int | None = None):
    """Cut n rows into slices of about BLOCK entries."""
    size = max(1, BLOCK // (width or n))
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _square(x) -> float:
    """Return the sum of squares, accumulated in float64."""
    x = np.ravel(x)
    return float(np.einsum("i,i->", x, x, dtype=np.float64))
