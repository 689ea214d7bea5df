import numpy as np
import pytest
from scipy.optimize import linprog

from dssc import quadratic_transport
from dssc.stochastic.feasibility import check_support

TIGHT = np.array([[1, 0], [1, 0], [1, 1]])  # the first column must take the first two rows


def mass_left(support, a, b):
    """Return how much of the marginals no plan on the support can carry, by a linear program."""
    rows, columns = np.nonzero(support)
    n, m = support.shape
    sums = np.zeros((n + m, len(rows)))
    sums[rows, np.arange(len(rows))] = sums[n + columns, np.arange(len(rows))] = 1
    tolerances = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    limits = np.concatenate([a, b])
    flow = linprog(-np.ones(len(rows)), sums, limits, method="highs-ds", options=tolerances)
    return a.sum() + flow.fun


@pytest.mark.parametrize("excess", [1e-3, 1e-6, 1e-9])
def test_a_small_excess_is_recognised_and_named(excess, rng):
    a = np.array([0.25 + excess, 0.25, 0.5 - excess])
    message = rf"2 rows, row 0 .* take, by {3 * excess:.1e} mean row sums; .* or change the marg"
    with pytest.raises(ValueError, match=message):
        quadratic_transport(rng.random((3, 2)), 1.0, a, [0.5, 0.5], support=TIGHT)


@pytest.mark.parametrize("spare", [0.0, 1e-12, 1e-6])
def test_a_pattern_that_just_suffices_is_used(spare, rng):
    a = np.array([0.25 - spare, 0.25, 0.5 + spare])
    result = quadratic_transport(rng.random((3, 2)), 1.0, a, [0.5, 0.5], support=TIGHT)
    assert result.converged, result.status


@pytest.mark.parametrize("n", [60, 700])
def test_an_excess_in_a_larger_pattern(n, rng):
    """Half of the rows fill half of the columns, which leaves the other rows nothing there."""
    held = rng.random((n, n)) < 0.1
    held[: n // 2, n // 2 :] = False
    held |= np.eye(n, dtype=bool)
    plan = held * rng.random((n, n))
    plan[n // 2 :, : n // 2] = 0.0
    a, b = plan.sum(axis=1), plan.sum(axis=0)
    check_support(held, (n, n), (a, b))
    moved = 1e-6 * a.mean()
    a[0] += moved
    a[-1] -= moved
    with pytest.raises(ValueError, match="row 0 among them, have more mass"):
        check_support(held, (n, n), (a, b))


def test_agrees_with_a_linear_program(rng):
    n_refused = 0
    for _ in range(150):
        n, m = rng.integers(2, 8, 2)
        held = rng.random((n, m)) < rng.uniform(0.0, 0.4)
        held[np.arange(max(n, m)) % n, np.arange(max(n, m)) % m] = True
        plan = held * 10.0 ** rng.uniform(-4, 0, (n, m))
        a, b = plan.sum(axis=1), plan.sum(axis=0)
        moved = rng.choice([0.0, 1e-5, 0.1]) * a[1]
        a[:2] += moved, -moved
        a, b = a / a.mean(), b / a.mean()
        left = mass_left(held, a, b)
        if left > 1e-8:
            n_refused += 1
            with pytest.raises(ValueError, match="support is infeasible"):
                check_support(held, (n, m), (a, b))
        elif left < 1e-11:
            check_support(held, (n, m), (a, b))
    assert 20 < n_refused < 130
