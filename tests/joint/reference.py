"""The joint model as the paper writes it, by a general convex solver, and slow obvious pieces."""

import warnings

import numpy as np
import pytest
from hypothesis import strategies as st

from dssc import unit_norm
from dssc.joint import JointModel
from tests.judge import as_dense

SMALL_PROBLEMS = {
    "seed": st.integers(0, 10_000),
    "n": st.integers(3, 9),
    "eta1": st.sampled_from([0.01, 0.3, 1.0, 25.0]),
    "eta2": st.sampled_from([0.01, 0.2, 1.0, 4.0]),
    "eta3": st.sampled_from([0.0, 0.1, 0.7, 2.0]),
}


def solve_by_cvxpy(model):
    """Return the optimum and the raw (C_p, C_q, A), in row notation."""
    cp = pytest.importorskip("cvxpy")  # machines with a GPU may lack it
    X, n = model.X, model.n
    C_p, C_q, A = (cp.Variable((n, n), nonneg=True) for _ in range(3))
    W = C_p + C_q
    objective = (
        cp.sum_squares(X - (C_p - C_q) @ X) / 2
        + model.eta1 / 2 * cp.sum_squares(W - model.eta2 * A)
        + model.eta3 * cp.sum(W)
    )
    sums = [cp.sum(A, axis=0) == 1, cp.sum(A, axis=1) == 1]
    diagonals = [cp.diag(C_p) == 0, cp.diag(C_q) == 0]
    problem = cp.Problem(cp.Minimize(objective), sums + diagonals)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10, max_iter=300
        )
    return problem.value, C_p.value, C_q.value, A.value


def objective(model, C_p, C_q, A):
    """Return (model) at any point, straight from the paper."""
    W = C_p + C_q
    return (
        np.sum((model.X - (C_p - C_q) @ model.X) ** 2) / 2
        + model.eta1 / 2 * np.sum((W - model.eta2 * A) ** 2)
        + model.eta3 * np.sum(W)
    )


def certify(model, result, tol):
    """Assert that the result is feasible, worth what it says, and as good as it says."""
    C, A = result.representation, as_dense(result.plan)
    assert np.all(np.diag(C) == 0)
    assert np.all(A >= 0)
    assert max(np.abs(A.sum(axis=k) - 1).max() for k in (0, 1)) <= 1e-8
    W = np.maximum(np.abs(C), model.eta2 * A - model.eta3 / model.eta1)
    np.fill_diagonal(W, 0)
    value = objective(model, (W + C) / 2, (W - C) / 2, A)
    assert value == pytest.approx(result.objective, rel=1e-7)
    assert result.dual <= result.objective + 1e-12 * abs(result.objective)
    assert result.gap <= tol


# eta1, eta2, eta3: eta1 eta2 below, at and above eta3; hardly and strongly coupled.
PARAMETERS = [
    (1.0, 0.1, 0.1),
    (0.25, 0.2, 0.0),
    (25.0, 0.01, 0.1),
    (0.01, 0.2, 0.0),
    (1.0, 0.5, 0.0),
    (1.0, 1.5, 0.05),
    (5.0, 0.8, 0.02),
    (0.5, 0.1, 0.3),
    (25.0, 0.2, 0.0),
    (0.05, 1.0, 0.0),
]


def random_model(seed, parameters, n=14):
    """Return a small problem: points of a few subspaces, or in general position."""
    rng = np.random.default_rng(seed)
    d = 4 + 2 * (seed % 3)
    if seed % 2:
        X = rng.standard_normal((n, d))
    else:
        bases = rng.standard_normal((2, 2, d))
        subspace = np.arange(n) % 2
        X = np.einsum("ik,ikd->id", rng.standard_normal((n, 2)), bases[subspace])
        X += 0.1 * rng.standard_normal((n, d))
    return JointModel(unit_norm(X), *parameters)


def dual_value(model, L, a, b):
    """Return the dual's value by its formula, or minus infinity if (L, a, b) is not feasible."""
    G, p = np.abs(L @ model.X.T), a[:, None] + b
    off = ~np.eye(model.n, dtype=bool)
    if np.any((p > model.eta2 * (model.eta3 - G) + 1e-12)[off]):
        return -np.inf
    value = np.sum(L * model.X) - np.sum(L**2) / 2 + a.sum() + b.sum()
    value -= np.sum(np.maximum(G - model.eta3, 0)[off] ** 2) / (2 * model.eta1)
    return value - np.sum(np.maximum(p, 0) ** 2) / (2 * model.eta1 * model.eta2**2)
