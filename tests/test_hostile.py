"""The campaign's corpus has not changed, and its judge accepts what is right and nothing else."""

from fractions import Fraction

import numpy as np
import pytest

from benchmarks import hostile_corpus as corpus
from benchmarks.hostile import marginals, outcome, solve
from benchmarks.hostile_judge import judge
from tests.judge import as_dense

pytestmark = [
    pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs extended precision"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
TOL = 1e-8
PROBLEMS = list(corpus.problems())
SMALL = [p for p in PROBLEMS if max(p.K.shape) <= 60]
# Problems with a choice of plans, of every family that has solvable ones.
JUDGED = [p for p in SMALL if p.expected == corpus.SOLVABLE and min(p.K.shape) > 6][::24]


def name_of(problem):
    return f"{problem.family}: {problem.name}"


def test_the_corpus_has_not_changed():
    assert len(PROBLEMS) >= 1000
    assert corpus.checksum(PROBLEMS) == corpus.CHECKSUM


@pytest.mark.parametrize("problem", SMALL[::29], ids=name_of)
def test_a_sample_of_the_corpus(problem):
    kind, remark, _ = outcome(problem)
    assert kind == "certified" or (kind == "honest" and problem.expected != corpus.SOLVABLE), remark


@pytest.fixture(scope="module", params=JUDGED, ids=name_of)
def solved(request):
    problem = request.param
    result = solve(problem)
    return problem, as_dense(result.plan), result.potentials


def verdict(problem, plan, potentials):
    a, b = marginals(problem)
    return judge(problem.K, problem.eta2, a, b, plan, potentials, problem.support)


def allowed(problem):
    full = np.ones(problem.K.shape, bool)
    return full if problem.support is None else as_dense(problem.support) != 0


def test_right_plans_are_accepted(solved):
    assert verdict(*solved).is_within(TOL)


def test_plans_away_from_the_optimum_are_rejected(solved, rng):
    """A feasible B has a gap of at least |B - A*|^2 / 2: all beyond the tolerance must show it."""
    problem, A, potentials = solved
    places, n_tried = allowed(problem), 0
    positive = np.argwhere(1e-3 * A.max() < A)
    for _ in range(200):
        (i, j), (k, m) = rng.choice(positive, 2, replace=False)
        if i == k or j == m:
            continue
        moved = min(A[i, j], A[k, m]) * rng.choice([1e-2, 0.1, 0.5, 1.0])
        B = A.copy()
        B[[i, k], [j, m]] -= moved
        B[[i, k], [m, j]] += moved
        unit = A.max()
        distance = np.linalg.norm((B - A) / unit) / np.linalg.norm(B / unit)
        if places[i, m] and places[k, j] and distance > 1.1 * np.sqrt(2 * TOL):
            n_tried += 1
            assert not verdict(problem, np.maximum(B, 0), potentials).is_within(TOL)
        if n_tried >= 10:
            break
    assert n_tried or problem.support is not None


@pytest.mark.parametrize("share", [1e-3, 1e-2, 1.0])
def test_potentials_away_from_the_optimum_are_rejected(share, solved, rng):
    """Potentials whose positive part is off by more than the tolerance in the gap."""
    problem, A, (alpha, beta) = solved
    row = int(rng.integers(len(A)))
    for sign in (1, -1):
        moved = alpha.copy()
        moved[row] += sign * share * problem.eta2 * A[row].max()
        slack = (as_dense(problem.K).astype(np.longdouble) - moved[:, None] - beta) / problem.eta2
        off = np.where(allowed(problem), np.maximum(slack, 0), 0) - A
        unit = A.max()
        gap = np.sum((off / unit) ** 2) / np.sum((A / unit) ** 2) / 2
        if gap > 2 * TOL:
            assert not verdict(problem, A, (moved, beta)).is_within(TOL)


def damaged(A, kind):
    """Return a plan that is no plan."""
    A = A.copy()
    if kind == "sums":
        return A * (1 + 3e-8)
    if kind == "one entry":
        A[np.unravel_index(A.argmax(), A.shape)] += 3e-8 * A.sum() / len(A)
    elif kind == "negative":
        A[np.unravel_index(A.argmin(), A.shape)] = -1e-12 * A.max()
    elif kind == "NaN":
        A[0, 0] = np.nan
    else:
        return A[:, :-1]
    return A


@pytest.mark.parametrize("kind", ["sums", "one entry", "negative", "NaN", "shape"])
def test_what_is_no_plan_is_rejected(kind, solved):
    problem, A, potentials = solved
    assert not verdict(problem, damaged(A, kind), potentials).is_within(TOL)


def test_a_plan_outside_the_support_is_rejected(solved):
    problem, A, potentials = solved
    A = A.copy()
    for place in np.argwhere(~allowed(problem))[:1]:
        A[tuple(place)] = 1e-12
        assert not verdict(problem, A, potentials).is_within(TOL)


@pytest.mark.parametrize("transposed", [False, True])
def test_mass_that_moves_inside_a_row_or_column_is_rejected(transposed, solved):
    """All sums on one side stay right, and those on the other are off by 3e-8."""
    problem, A, potentials = solved
    B = A.copy()
    view = B.T if transposed else B
    row = int(np.argmax(np.sort(view, axis=1)[:, -2]))
    fullest, next_one = np.argsort(view[row])[[-1, -2]]
    moved = 3e-8 * A.sum() / len(A)
    if view[row, next_one] < moved:
        return  # a permutation
    view[row, fullest] += moved
    view[row, next_one] -= moved
    assert not verdict(problem, B, potentials).is_within(TOL)


def test_potentials_that_are_not_numbers_are_rejected(solved):
    problem, A, (alpha, beta) = solved
    assert not verdict(problem, A, (alpha * np.inf, beta)).is_within(TOL)


def test_the_gap_is_that_of_exact_arithmetic(rng):
    """Primal objective less dual value by their definitions, in fractions."""
    K = rng.integers(-64, 64, (4, 4)) / 16
    alpha, beta = rng.integers(-16, 16, (2, 4)) / 32
    A = sum(w * np.eye(4)[rng.permutation(4)] for w in (0.5, 0.25, 0.125, 0.125))
    eta2 = Fraction(3, 8)
    exact = np.vectorize(Fraction)
    Kx, Ax, ax, bx = exact(K), exact(A), exact(alpha), exact(beta)
    primal = -(Kx * Ax).sum() + eta2 / 2 * (Ax**2).sum()
    positive = np.maximum(Kx - ax[:, None] - bx, Fraction(0))
    dual = -(ax.sum() + bx.sum()) - (positive**2).sum() / (2 * eta2)
    gap = (primal - dual) / (eta2 * (Ax**2).sum())
    ones = np.ones(4)
    found = judge(K, float(eta2), ones, ones, A, (alpha, beta))
    assert found.marginal_error == 0
    assert found.gap == pytest.approx(float(gap), rel=1e-15)
