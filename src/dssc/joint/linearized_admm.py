"""The paper's Algorithm 3: linearised ADMM for the joint model, as its authors ran it."""

import time
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from dssc.expression import least_squares_representation
from dssc.joint.model import JointModel, blocks
from dssc.joint.outcome import relative_gap
from dssc.joint.result import JointResult

RHO = 0.5
TAU = 1e-4
RECORD_EVERY = 250


def solve(
    model: JointModel, *, tol: float, max_iter: int, record_every: int = RECORD_EVERY, state=None
) -> JointResult:
    r"""Run the updates (first_lin) to (last_ascent) of the paper.

    The problem solved is (big_problem), with copies ``Y = A`` and ``Z = C X``. C_p and C_q start at
    the positive and negative parts of LSR, A and Y at ``1 / (n - 1)`` off the diagonal, all else at
    zero. C_p and C_q step together from one gradient, as the authors' program does; taking them in
    turns, as the paper prints it, changes an iterate by a part of ``tau * eta1``.
    The `plan` is the nonnegative variable A, whose sums are one only in the limit, and `gap` is
    that of C with the projection of W in A's place. `residuals` are the largest violation of a
    constraint (``Y - A``, the sums of Y, ``Z - C X``) and of the conditions for C_p, C_q and A to
    minimise the Lagrangian; those for Y and Z hold exactly.

    Parameters
    ----------
    model : JointModel
        The problem.
    tol : float
        Ends the iterations when both residuals are at most this; they are looked at together
        with the objective.
    max_iter : int
        Most iterations; the authors take 2000.
    record_every : int
        Iterations between records of the model's value.
    state : object or None
        The variables, where they are not to live in main memory.

    Notes
    -----
    After its ascent step ``Lambda_1`` is a sum of a column and a row vector, and ``Lambda_2`` is
    ``X - Z``. So Y, Lambda_1 and Lambda_2 need not be held: A, C_p, C_q and one more matrix
    are the whole state, besides a Gram matrix where that makes products cheaper.
    """
    clock = time.perf_counter()
    state = State(model) if state is None else state
    history, seconds = [], []
    n_iter, potentials = 0, None
    for n_iter in range(1, max_iter + 1):
        state.step()
        if n_iter % record_every == 0 or n_iter == max_iter:
            residuals = state.residuals()
            potentials, value = state.judge(potentials)
            history.append(value)
            seconds.append(time.perf_counter() - clock)
            if max(residuals) <= tol:
                break
    records = np.array(history), np.array(seconds)
    return _outcome(state, potentials, residuals, n_iter, tol, records)


class SumMultipliers:
    """Y and the multipliers of its sums and of ``Y = A``, by the sums of A alone.

    Vectors are arrays or tensors.
    """

    def __init__(self, zeros):
        self.lambda_rows = self.lambda_columns = zeros
        self.rows = self.columns = zeros  # Lambda_1 = rows 1' + 1 columns'
        self.push = zeros, zeros  # Lambda_1 + rho (Y - A), in two parts

    def update(self, row_sums, column_sums):
        """Minimise over Y and ascend in its multipliers."""
        n = len(row_sums)
        base_rows = 2 * RHO - self.lambda_rows - self.rows
        base_columns = -self.lambda_columns - self.columns
        v = RHO * row_sums + n * base_rows + base_columns.sum()
        u = RHO * column_sums + n * base_columns + base_rows.sum()
        v_P = (v - v.sum() / (2 * n + 1)) / (n + 1)
        u_P = (u - u.sum() / (2 * n + 1)) / (n + 1)
        self.errors = (
            (v - n * v_P - u_P.sum()) / RHO - 1.0,
            (u - n * u_P - v_P.sum()) / RHO - 1.0,
        )
        rows = 2 * RHO - self.lambda_rows - v_P
        columns = -self.lambda_columns - u_P
        self.change = (rows - self.rows, columns - self.columns)  # rho (Y - A)
        self.push = (rows + self.change[0], columns + self.change[1])
        self.rows, self.columns = rows, columns
        self.lambda_rows = self.lambda_rows + RHO * self.errors[0]
        self.lambda_columns = self.lambda_columns + RHO * self.errors[1]

    def violation(self):
        """Return the largest violation of ``Y = A`` and of the sums of Y."""
        f, g = self.change
        off = max(float(abs(f.max() + g.max())), float(abs(f.min() + g.min()))) / RHO
        return max(off, *(float(abs(error).max()) for error in self.errors))


class State:
    """The variables of the method, and one iteration."""

    C_p: Any
    C_q: Any
    A: Any
    buffer: Any
    coupling: Any

    def __init__(self, model: JointModel):
        n, dtype = model.n, model.X.dtype
        C = np.ascontiguousarray(least_squares_representation(model.X, model.eta1))
        self.model = model
        self.C_p = np.maximum(C, 0)
        self.C_q = np.maximum(-C, 0)
        self.A = np.full((n, n), 1.0 / (n - 1), dtype=dtype)
        np.fill_diagonal(self.A, 0.0)
        self.sums = SumMultipliers(np.zeros(n))
        self.coupling = (_Gram if n < 2 * model.X.shape[1] else _Features)(model.X, C)
        self.buffer = C
        self.row_sums = np.zeros(n)

    def step(self):
        """Take one iteration."""
        from dssc.kernels._numba.joint import linearized_step

        m = self.model
        self.coupling.gradient(self.C_p, self.C_q, self.buffer)
        linearized_step(
            self.C_p,
            self.C_q,
            self.A,
            *self.sums.push,
            TAU,
            RHO,
            m.eta1,
            m.eta2,
            m.eta3,
            self.buffer,
            self.row_sums,
        )
        self.sums.update(self.row_sums, self.A.sum(axis=0, dtype=np.float64))
        self.coupling.ascend(self.buffer)

    def residuals(self):
        """Return the largest violations of the constraints and of the optimality conditions."""
        m = self.model
        C = self.C_p - self.C_q
        Z = self.coupling.Z(C)
        primal = max(self.sums.violation(), float(np.abs(Z - C @ m.X).max()))
        G = (m.X - Z) @ m.X.T
        dual = 0.0
        for rows in blocks(m.n):
            C_p, C_q, A = self.C_p[rows], self.C_q[rows], self.A[rows]
            slope = m.eta1 * (C_p + C_q - m.eta2 * A)
            push = -m.eta2 * slope - self.sums.rows[rows, None] - self.sums.columns
            parts = [
                _violation(C_p, slope + m.eta3 - G[rows], rows),
                _violation(C_q, slope + m.eta3 + G[rows], rows),
                _violation(A, push, None),
            ]
            dual = max(dual, *parts)
        return primal, dual

    def judge(self, potentials):
        """Return the potentials of W's projection and the model's value with it in A's place."""
        m = self.model
        projection = m.project(self.C_p + self.C_q, potentials)
        return projection.potentials, m.upper_bound(self.C_p - self.C_q, projection.plan)

    def bound(self, potentials, value):
        """Return the dual bound from C and a projection's potentials, and the relative gap."""
        return relative_gap(self.model, self.C_p - self.C_q, potentials, value)

    def splitting(self):
        """Hand over C_p, C_q and A as arrays, to do with as one likes."""
        return self.C_p, self.C_q, self.A


def _violation(x, slope, diagonal):
    """Return how far ``x >= 0`` is from minimal; entries of a fixed diagonal do not count."""
    wrong = np.where(x > 0, np.abs(slope), np.maximum(-slope, 0))
    if diagonal is not None:
        at = np.arange(diagonal.start, diagonal.stop)
        wrong[at - diagonal.start, at] = 0.0
    return float(wrong.max())


class _Features:
    """Z and Lambda_2 as they are: two products with X an iteration."""

    def __init__(self, X, C):
        self.X = X
        self._Z = X.copy()  # that is X - Lambda_2, which is Z after the first iteration
        self.D = -RHO * (C @ X)

    def gradient(self, C_p, C_q, out):
        """Write ``(Lambda_2 - rho (C X - Z)) X'``, the direction in which C descends."""
        np.dot(self.D, self.X.T, out=out)

    def ascend(self, C):
        """Minimise over Z and ascend in Lambda_2."""
        CX = C @ self.X
        self._Z += RHO * CX
        self._Z /= 1 + RHO
        self.D = self.X - (1 - RHO) * self._Z - RHO * CX

    def Z(self, C):
        """Return Z."""
        return self._Z


class _Gram:
    """Z and Lambda_2 as coefficients of the rows of X: one product with the Gram matrix.

    With ``Z = Y X`` the gradient's coefficients are ``D = I - (1 - rho) Y - rho C``, and the update
    of Y turns into ``D <- (D + rho C_old + rho I - 2 rho C) / (1 + rho)``.
    """

    def __init__(self, X, C):
        self.X = X
        self.K = X @ X.T
        self.D = -RHO * C
        self.extra = RHO  # Lambda_2 starts at zero and not at X - Z: what D lacks afterwards

    def gradient(self, C_p, C_q, out):
        """Write ``(Lambda_2 - rho (C X - Z)) X'``, the direction in which C descends."""
        np.dot(self.D, self.K, out=out)
        _add(self.D, C_p, RHO)
        _add(self.D, C_q, -RHO)
        _add_to_diagonal(self.D, self.extra)
        self.extra = 0.0

    def ascend(self, C):
        """Minimise over Z and ascend in Lambda_2."""
        _add(self.D, C, -2 * RHO)
        _add_to_diagonal(self.D, RHO)
        self.D /= 1 + RHO

    def Z(self, C):
        """Return Z."""
        coefficients = -RHO * C - self.D
        _add_to_diagonal(coefficients, 1.0)
        Z = coefficients @ self.X
        Z /= 1 - RHO
        return Z


def _add(x, y, factor):
    """Add ``factor * y`` to x in place, without a third array."""
    axpy = blas.get_blas_funcs("axpy", (x,))
    axpy(y.ravel(), x.ravel(), a=factor)


def _add_to_diagonal(x, value):
    x.ravel()[:: len(x) + 1] += value


def _outcome(state, potentials, residuals, n_iter, tol, records):
    value = float(records[0][-1])
    dual, gap = state.bound(potentials, value)
    C_p, C_q, A = state.splitting()
    overlap = np.minimum(C_p, C_q)
    C_p -= C_q
    sums = A.sum(axis=0, dtype=np.float64), A.sum(axis=1, dtype=np.float64)
    error = float(max(np.abs(s - 1.0).max() for s in sums))
    primal, slope = residuals
    converged = max(residuals) <= tol
    status = (
        f"residuals {primal:.1e} (constraints) and {slope:.1e} (optimality) "
        f"after {n_iter} iterations, tol={tol:.1e}; objective {value:.6g}, gap {gap:.1e}"
    )
    return JointResult(
        representation=C_p,
        plan=sparse.csr_array(A) if np.mean(A > 0) <= 0.25 else A,
        potentials=potentials,
        objective=value,
        dual=dual,
        gap=gap,
        history=records[0],
        seconds=records[1],
        marginal_error=error,
        residuals=residuals,
        n_overlaps=int(np.count_nonzero(overlap)),
        largest_overlap=float(overlap.max()),
        n_iter=n_iter,
        converged=converged,
        status=("converged: " if converged else "not converged: ") + status,
    )
