"""The work that heuristics save, counted: results would be right without them, only later."""

from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from dssc import project_doubly_stochastic
from dssc.stochastic import eta2_by_neighbors
from dssc.stochastic.newton import schedule, search_along


class PowerLaw:
    """A problem in which a point has ``eta2 ** power`` neighbours; implements `Projectable`."""

    def __init__(self, power, guess, n=400):
        self.power, self.guess, self.n_solves = power, guess, 0
        self.shape, self.largest = (n, n), 1.0

    def largest_entries(self, count, progress):
        return np.tile([self.guess] + [0.0] * (count - 1), (self.shape[0], 1))

    def solve(self, eta2, **options):
        self.n_solves += 1
        n = self.shape[0]
        total = int(np.clip(n * eta2**self.power, 0, n * n))
        counts = np.full(n, total // n)
        counts[: total % n] += 1
        columns = np.concatenate([(i + 1 + np.arange(c)) % n for i, c in enumerate(counts)])
        indptr = np.concatenate([[0], np.cumsum(counts)])
        plan = sparse.csr_array((np.ones(total), columns.astype(int), indptr), shape=self.shape)
        return SimpleNamespace(plan=plan, potentials=None, eta2=eta2)


@pytest.mark.parametrize(
    ("power", "factor", "most"),
    [(0.5, 0.02, 5), (0.5, 3.0, 3), (1.0, 0.02, 5), (1.0, 3.0, 3), (2.0, 0.3, 4), (2.0, 3.0, 5)],
)
def test_the_search_for_eta2_takes_few_trials(power, factor, most):
    """With brackets halved it takes 5 to 10 where the power is one or two."""
    problem = PowerLaw(power, factor * 12 ** (1 / power))
    result = eta2_by_neighbors.project_to_neighbors(problem, 12)
    assert eta2_by_neighbors.mean_neighbors(result.plan) == pytest.approx(12, rel=0.02)
    assert problem.n_solves <= most


def test_stages_start_where_similarities_span_ten_units():
    stages = list(islice(schedule(1.0, 1e-4), 6))
    np.testing.assert_allclose(stages, [1e-1, 1e-2, 1e-3, 1e-4, 1e-4, 1e-4])
    assert list(islice(schedule(1.0, 0.2), 2)) == [0.2, 0.2]
    uneven = list(islice(schedule(1.0, 3e-3), 3))
    np.testing.assert_allclose(uneven, [1e-1, np.sqrt(3e-4), 3e-3])


@pytest.mark.parametrize(("best", "most"), [(0.3, 2), (0.8, 1), (1.2, 1), (3.5, 3), (50.0, 4)])
def test_the_line_search_takes_few_evaluations(best, most):
    """On a line the interpolated step is the best one; steps double up to eight."""
    steps = []

    def slope_at(step):
        steps.append(step)
        return step / best - 1.0, step

    found = search_along(slope_at, -1.0)
    assert len(steps) <= most
    assert abs(found / best - 1.0) <= 0.5 or found == 8.0


def test_the_line_search_stays_between_what_it_has_seen():
    """The slope jumps, so interpolation misses the place again and again."""
    low, high, steps = 0.0, np.inf, []

    def slope_at(step):
        nonlocal low, high
        assert low < step < high
        low, high = (step, high) if step < 1.37 else (low, step)
        steps.append(step)
        return (-1.0 if step < 1.37 else 3.0) if len(steps) < 12 else 0.0, step

    assert search_along(slope_at, -1.0) == pytest.approx(1.37, abs=1e-2)


def test_newton_takes_few_steps(rng):
    """Without stages it takes hundreds; with ones that start too early or late, a third more."""
    K = rng.random((400, 400))
    for eta2, n_iter, n_evaluations in ((1e-1, 5, 45), (1e-2, 11, 90), (1e-4, 61, 2586)):
        result = project_doubly_stochastic(K, eta2)
        assert result.n_iter <= 1.2 * n_iter + 1
        assert result.n_evaluations <= 1.3 * n_evaluations


@pytest.mark.parametrize(("symmetric", "n_read"), [(True, 777), (False, 506)])
def test_few_rows_are_read_again(symmetric, n_read, rng):
    """A reading with a margin serves the next support too; without it twice as many are read."""
    K, is_popular = 0.2 * rng.random((600, 600)), rng.random(600) < 0.5
    K += np.outer(rng.random(600), is_popular)
    K = (K + K.T) / 2 if symmetric else K
    result = project_doubly_stochastic(K, 0.3)
    assert result.converged
    assert 0 < result.n_rescanned <= 1.25 * n_read
