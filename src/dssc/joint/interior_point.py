"""Transport with a dense quadratic cost per row, by a primal-dual interior-point method."""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from dssc._typing import Array
from dssc.kernels import joint as kernels

# Most steps.
MAX_STEPS = 80
# A relative shift of the diagonal beyond this cannot be due to rounding.
LARGEST_SHIFT = 1.0
# A step covers this share of the way to the boundary.
BOUNDARY_SHARE = 0.995
# A start from an earlier solution keeps this distance from the boundary, in units of the mean.
WARM_DISTANCE = 1e-2
# The largest relative violation of an equation with which the method may end.
FEASIBLE = 1e-9
# The smallest complementarity gap that rounding allows.
ROUNDING = 1e-14


class RowQuadratics(NamedTuple):
    """``sum_i 1/2 z_i' Q_i z_i - q_i' z_i``, where z_i are the entries of row i of A.

    Attributes
    ----------
    indptr, columns : ndarray
        The entries in CSR form.
    offsets : ndarray
        Where each Q_i starts in `blocks`.
    blocks : ndarray
        All Q_i, one after the other.
    linear : ndarray
        All q_i, one after the other.
    """

    indptr: Array
    columns: Array
    offsets: Array
    blocks: Array
    linear: Array


class TransportSolution(NamedTuple):
    """Entries of A, their reduced costs, the potentials (a, b), and the steps taken."""

    z: Array
    reduced: Array
    a: Array
    b: Array
    n_iter: int


def solve(
    quadratics: RowQuadratics, start: TransportSolution | None, tol: float
) -> TransportSolution:
    r"""Minimise a quadratic of each row over the doubly stochastic matrices on a pattern.

    .. math:: \min_z \sum_i \tfrac12 z_i^\top Q_i z_i - q_i^\top z_i
              \quad \text{subject to } z \ge 0, \text{ all row and column sums one.}

    The optimality conditions are ``Q z - q = a_i + b_j + y`` with ``y >= 0`` and ``z y = 0``.
    Newton's method follows ``z y = mu`` as mu falls (Mehrotra's predictor and corrector). The
    entries of every row are eliminated, then the row potentials. One dense system for the column
    potentials remains. It is singular along the constant vector, which does not change A.

    Parameters
    ----------
    quadratics : RowQuadratics
        The problem. The pattern must contain a doubly stochastic matrix, such as the identity.
    start : TransportSolution or None
        Values for the same entries from which to start. They need not be near a solution.
    tol : float
        Largest duality gap in units of the objective's size.
    """
    newton = _NewtonSystem(quadratics)
    z, y, a, b = newton.start(start)
    n_iter = 0
    error = np.inf
    while n_iter < MAX_STEPS:
        gap = newton.linearise(z, y, a, b)
        last, error = error, newton.error()
        # If the pattern falls into pieces, rounding makes the sums worse again at the end.
        if gap <= max(tol, ROUNDING) and (error <= FEASIBLE or error >= last):
            break
        n_iter += 1
        if not newton.factorise():
            break
        dz, dy, _, _ = newton.direction(-z * y)
        step = min(_longest_step(z, dz), _longest_step(y, dy))
        mean = float(z @ y) / len(z)
        ahead = float((z + step * dz) @ (y + step * dy)) / len(z)
        centre = mean * (ahead / mean) ** 3
        dz, dy, da, db = newton.direction(centre - z * y - dz * dy)
        step = min(1.0, BOUNDARY_SHARE * min(_longest_step(z, dz), _longest_step(y, dy)))
        if not step > 1e-10:  # rounding allows no further step
            if start is not None:
                return solve(quadratics, None, tol)  # the start may be the reason
            break  # the caller computes a certificate of what was reached
        z, y, a, b = z + step * dz, y + step * dy, a + step * da, b + step * db
    return TransportSolution(z, y, a, b, n_iter)


class _NewtonSystem:
    """The linear algebra of one Newton step."""

    def __init__(self, quadratics: RowQuadratics):
        self.problem = quadratics
        self.n = len(quadratics.indptr) - 1
        self.rows = np.repeat(np.arange(self.n), np.diff(quadratics.indptr))
        self.columns = quadratics.columns
        self.scale = _slope_size(quadratics)
        self.inverses = np.empty_like(quadratics.blocks)
        self.system = np.empty((self.n, self.n))

    def start(self, start: TransportSolution | None) -> tuple[Array, Array, Array, Array]:
        """Return the first z, y, a and b, inside the boundary."""
        counts = np.diff(self.problem.indptr)
        if start is None:
            z = 1.0 / counts[self.rows]
            return z, np.full(len(z), 0.1 * self.scale), np.zeros(self.n), np.zeros(self.n)
        z = np.maximum(start.z, WARM_DISTANCE / counts.mean())
        return z, np.maximum(start.reduced, WARM_DISTANCE * self.scale), start.a, start.b

    def row_sums(self, x: Array) -> Array:
        """Return the sum of every row."""
        return np.bincount(self.rows, x, self.n)

    def column_sums(self, x: Array) -> Array:
        """Return the sum of every column."""
        return np.bincount(self.columns, x, self.n)

    def products(self, blocks: Array, x: Array) -> Array:
        """Return the block-diagonal matrix times a vector."""
        out = np.empty(len(x))
        kernels.block_products(self.problem.indptr, self.problem.offsets, blocks, x, out)
        return out

    def linearise(self, z: Array, y: Array, a: Array, b: Array) -> float:
        """Set the current point; return its relative complementarity gap."""
        Qz = self.products(self.problem.blocks, z)
        self.z, self.y = z, y
        self.slope_error = Qz - self.problem.linear - a[self.rows] - b[self.columns] - y
        self.missing = 1.0 - self.row_sums(z), 1.0 - self.column_sums(z)
        value = abs(0.5 * float(z @ Qz) - float(self.problem.linear @ z))
        return float(z @ y) / max(value, 1e-300)

    def error(self) -> float:
        """Return the largest violation of an equation, relative to the size of its terms."""
        sums = max(np.abs(self.missing[0]).max(), np.abs(self.missing[1]).max())
        return float(max(sums, np.abs(self.slope_error).max() / self.scale))

    def factorise(self) -> bool:
        """Factorise Newton's system at the current point; return whether float64 can."""
        q = self.problem
        kernels.invert_blocks(q.indptr, q.offsets, q.blocks, self.y / self.z, self.inverses)
        self.v = self.products(self.inverses, np.ones(len(self.z)))
        self.totals = self.row_sums(self.v)
        shift = 1e-13
        while shift < LARGEST_SHIFT:
            try:
                self.factor = self._column_factor(shift)
                return True
            except linalg.LinAlgError:  # indefinite by rounding: weakly connected pieces
                shift *= 100.0
        return False

    def _column_factor(self, shift: float) -> tuple[Array, bool]:
        """Return the Cholesky factor of the system for the column potentials."""
        q = self.problem
        self.system[:] = 0.0
        kernels.column_system(
            q.indptr, q.columns, q.offsets, self.inverses, self.v, self.totals, self.system
        )
        # The system is singular along the constant vector. This makes it regular there.
        self.system += np.trace(self.system) / self.n**2
        self.system.ravel()[:: self.n + 1] *= 1.0 + shift
        return linalg.cho_factor(self.system, lower=True, overwrite_a=True, check_finite=False)

    def direction(self, complementarity: Array) -> tuple[Array, Array, Array, Array]:
        """Return the step that satisfies all linear equations and changes ``z y`` as given."""
        rhs = complementarity / self.z - self.slope_error
        base = self.products(self.inverses, rhs)
        missing_rows = self.missing[0] - self.row_sums(base)
        missing_columns = self.missing[1] - self.column_sums(base)
        missing_columns -= self.column_sums(self.v * (missing_rows / self.totals)[self.rows])
        db = linalg.cho_solve(self.factor, missing_columns, check_finite=False)
        da = (missing_rows - self.row_sums(self.v * db[self.columns])) / self.totals
        dz = self.products(self.inverses, rhs + da[self.rows] + db[self.columns])
        return dz, (complementarity - self.y * dz) / self.z, da, db


def _slope_size(quadratics: RowQuadratics) -> float:
    """Return the size of the objective's slopes: that of q, or of Q z for a uniform z."""
    size = float(np.abs(quadratics.linear).max())
    return max(size, float(np.abs(quadratics.blocks).max()) / len(quadratics.indptr))


def _longest_step(x: Array, dx: Array) -> float:
    """Return the longest step of at most one that keeps x nonnegative; zero if there is none."""
    if not np.all(np.isfinite(dx)):
        return 0.0
    falling = dx < 0.0
    return min(1.0, float(np.min(-x[falling] / dx[falling]))) if falling.any() else 1.0
