"""The paper's Algorithm 3: linearised ADMM for the joint model, as its authors ran it."""

from typing import Generic

import numpy as np
from scipy import sparse

from dssc._devices import as_array
from dssc._typing import Array
from dssc.joint.array_types import ArrayT
from dssc.joint.fit_gradient import fit_gradient
from dssc.joint.model import JointModel
from dssc.joint.operations import LinearizedAdmmOperations
from dssc.joint.outcome import History, relative_gap
from dssc.joint.result import JointResult
from dssc.joint.sum_multipliers import SumMultipliers
from dssc.stochastic.similarity import Potentials

# The penalty parameter of the constraints.
RHO = 0.5
# The step size in C_p and C_q.
TAU = 1e-4
# Iterations between two records of the model's value.
RECORD_EVERY = 250
# A is returned as a sparse matrix if at most this share of its entries is positive.
SPARSE_SHARE = 0.25


def solve(
    model: JointModel[ArrayT], *, tol: float, max_iter: int, record_every: int = RECORD_EVERY
) -> JointResult:
    r"""Run the updates (first_lin) to (last_ascent) of the paper.

    The problem solved is (big_problem), with copies ``Y = A`` and ``Z = C X``. C_p and C_q start at
    the positive and negative parts of LSR, A and Y at ``1 / (n - 1)`` off the diagonal, everything
    else at zero. C_p and C_q step together from one gradient, as the authors' program does; one
    after the other, as the paper prints it, changes an iterate by a part of ``tau * eta1``.
    The `plan` is the nonnegative variable A, whose sums are one only in the limit. `gap` belongs to
    C with the projection of W in the place of A. `residuals` are the largest violation of a
    constraint (``Y - A``, the sums of Y, ``Z - C X``), and the largest violation of the conditions
    for C_p, C_q and A to minimise the Lagrangian; the conditions for Y and Z hold exactly.

    Parameters
    ----------
    model : JointModel
        The problem.
    tol : float
        The iterations end when both residuals are at most this. The residuals are computed
        together with the objective.
    max_iter : int
        Most iterations; the authors take 2000.
    record_every : int
        Iterations between two records of the model's value.

    Notes
    -----
    After its ascent step ``Lambda_1`` is the sum of a column and a row vector, and ``Lambda_2`` is
    ``X - Z``. So Y, Lambda_1 and Lambda_2 need not be held: A, C_p, C_q and one more matrix are the
    whole state, and a Gram matrix where it makes products cheaper.
    """
    history = History()
    iteration = LinearizedAdmm(model)
    n_iter, potentials = 0, None
    while True:
        n_iter += 1
        iteration.step()
        if n_iter % record_every == 0 or n_iter == max_iter:
            residuals = iteration.residuals()
            potentials, value = iteration.evaluate(potentials)
            history.record(value)
            if max(residuals) <= tol or n_iter == max_iter:
                return _result(iteration, potentials, residuals, n_iter, tol, history)


class LinearizedAdmm(Generic[ArrayT]):
    """The variables of the method, and one iteration.

    Parameters
    ----------
    model : JointModel
        The problem.
    rho : float
        The penalty parameter. A approaches the projection of W within some multiple of `rho`
        iterations.
    tau : float
        The step size in C_p and C_q.
    """

    def __init__(self, model: JointModel[ArrayT], rho: float = RHO, tau: float = TAU):
        self.model, self.rho, self.tau = model, rho, tau
        self.operations: LinearizedAdmmOperations[ArrayT] = model.operations
        ops = self.operations
        C = ops.least_squares(model.X, model.eta1)
        self.C_p, self.C_q = C.clip(0.0), (-C).clip(0.0)
        self.A = ops.xp.full_like(C, 1.0 / (model.n - 1))
        ops.fill_diagonal(self.A, 0.0)
        self.sums = SumMultipliers(ops.array(np.zeros(model.n)), rho)
        self.gradient = fit_gradient(ops, model.X, C, rho)
        self.C = C  # C_p - C_q after a step; the descent direction during it

    def step(self) -> None:
        """Take one iteration. Nothing waits for a device."""
        self.gradient.write_direction(self.C_p, self.C_q, self.C)
        variables = self.C_p, self.C_q, self.A, self.C
        row_sums, column_sums = self.operations.linearized_step(
            *variables, self.sums.push, self.model.penalty, self.tau, self.rho
        )
        self.sums.update(row_sums, column_sums)
        self.gradient.ascend(self.C)

    def residuals(self) -> tuple[float, float]:
        """Return the largest violations of the constraints and of the optimality conditions."""
        m, ops = self.model, self.operations
        C = self.C_p - self.C_q
        Z = self.gradient.Z(C)
        primal = max(self.sums.violation(), float(abs(Z - C @ m.X).max()))
        G = C  # its memory is used again
        ops.xp.matmul(m.X - Z, m.X.T, out=G)
        lambda_rows, lambda_columns = (
            ops.summand(part, C) for part in (self.sums.rows, self.sums.columns)
        )
        dual = 0.0
        for rows in ops.blocks(m.n, m.n):
            C_p, C_q, A = self.C_p[rows], self.C_q[rows], self.A[rows]
            slope = m.eta1 * (C_p + C_q - m.eta2 * A)
            slope_A = -m.eta2 * slope - lambda_rows[rows, None] - lambda_columns
            dual = max(
                dual,
                self._violation(C_p, slope + m.eta3 - G[rows], rows.start),
                self._violation(C_q, slope + m.eta3 + G[rows], rows.start),
                self._violation(A, slope_A),
            )
        return primal, dual

    def _violation(self, x: ArrayT, slope: ArrayT, first_row: int | None = None) -> float:
        """Return how far rows of ``x >= 0`` are from minimal.

        With `first_row` the diagonal is fixed and does not count.
        """
        wrong = self.operations.xp.where(x > 0, abs(slope), (-slope).clip(0.0))
        if first_row is not None:
            self.operations.fill_diagonal(wrong, 0.0, first_row)
        return float(wrong.max())

    def evaluate(self, potentials: Potentials | None) -> tuple[Potentials, float]:
        """Return the potentials of W's projection, and the model's value with it as A."""
        m = self.model
        projection = m.project(self.C_p + self.C_q, potentials)
        return projection.potentials, m.upper_bound(self.C_p - self.C_q, projection.plan)

    def release(self) -> tuple[Array, Array, Array]:
        """Return C_p, C_q and A in main memory, and free all other matrices."""
        del self.C, self.gradient
        return as_array(self.C_p), as_array(self.C_q), as_array(self.A)


def _result(
    iteration: LinearizedAdmm[ArrayT],
    potentials: Potentials,
    residuals: tuple[float, float],
    n_iter: int,
    tol: float,
    history: History,
) -> JointResult:
    value = float(history.values[-1])
    dual = iteration.model.lower_bound_at(iteration.C_p - iteration.C_q, potentials).value
    gap = relative_gap(value, dual)
    C_p, C_q, A = iteration.release()
    overlap = np.minimum(C_p, C_q)
    C_p -= C_q
    sums = A.sum(axis=0, dtype=np.float64), A.sum(axis=1, dtype=np.float64)
    primal, slope = residuals
    converged = max(residuals) <= tol
    status = (
        f"residuals {primal:.1e} (constraints) and {slope:.1e} (optimality) "
        f"after {n_iter} iterations, tol={tol:.1e}; objective {value:.6g}, gap {gap:.1e}"
    )
    return JointResult(
        representation=C_p,
        plan=sparse.csr_array(A) if np.mean(A > 0) <= SPARSE_SHARE else A,
        potentials=potentials,
        objective=value,
        dual=dual,
        gap=gap,
        history=np.array(history.values),
        seconds=np.array(history.seconds),
        marginal_error=float(max(np.abs(s - 1.0).max() for s in sums)),
        residuals=residuals,
        n_overlaps=int(np.count_nonzero(overlap)),
        largest_overlap=float(overlap.max()),
        n_iter=n_iter,
        converged=converged,
        status=("converged: " if converged else "not converged: ") + status,
    )
