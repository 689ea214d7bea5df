import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning

from dssc import project_doubly_stochastic
from dssc.stochastic import ProjectionProblem, mean_neighbors
from tests.judge import KINDS, as_dense, certify, dykstra, floor, random_problem

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 40)
kinds = st.sampled_from(sorted(KINDS))
log_etas = st.floats(-4, 4)


def draw(seed, kind, n, log_eta):
    K = random_problem(np.random.default_rng(seed), kind, n)
    return K, 10.0**log_eta * (np.abs(as_dense(K)).max() or 1.0)


def plan_of(K, eta2):
    return as_dense(project_doubly_stochastic(K, eta2).plan)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_two_hundred_random_problems():
    """At least 195 of 200 certified to 1e-8, the rest honest about it, none NaN."""
    rng = np.random.default_rng(2021)
    certified = 0
    for trial in range(200):
        kind = sorted(KINDS)[trial % len(KINDS)]
        n = int(np.exp(rng.uniform(0, np.log(300.5))))
        K = random_problem(rng, kind, n)
        largest = np.abs(as_dense(K)).max() or 1.0
        eta2 = largest * 10 ** rng.uniform(-6.6, 3.4)
        result = project_doubly_stochastic(K, eta2)
        if result.converged:
            certify(K, eta2, result)
            certified += 1
        else:
            assert "not converged" in result.status
            assert np.all(np.isfinite(as_dense(result.plan)))
    assert certified >= 195


@given(seeds, kinds, sizes, log_etas)
def test_every_answer_is_certified(seed, kind, n, log_eta):
    K, eta2 = draw(seed, kind, n, log_eta)
    result = project_doubly_stochastic(K, eta2)
    assert result.converged, result.status
    certify(K, eta2, result)


@given(seeds, kinds, st.integers(1, 7), st.floats(-1, 3))
def test_agrees_with_alternating_projections(seed, kind, n, log_eta):
    K, eta2 = draw(seed, kind, n, log_eta)
    np.testing.assert_allclose(plan_of(K, eta2), dykstra(as_dense(K) / eta2), atol=1e-6)


@given(seeds, st.integers(2, 30))
def test_idempotent_on_a_doubly_stochastic_matrix(seed, n):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(4))
    A = sum(w * np.eye(n)[rng.permutation(n)] for w in weights)
    np.testing.assert_allclose(plan_of(A, 1.0), A, atol=1e-7)


@given(seeds, kinds, sizes, log_etas)
def test_unchanged_by_adding_to_rows_and_columns(seed, kind, n, log_eta):
    K, eta2 = draw(seed, kind, n, log_eta)
    rng = np.random.default_rng(seed)
    scale = np.abs(as_dense(K)).max() or 1.0
    shifted = as_dense(K) + scale * rng.random((n, 1)) + scale * rng.random((1, n))
    atol = 1e-6 + 1e3 * floor(shifted, eta2)
    np.testing.assert_allclose(plan_of(shifted, eta2), plan_of(K, eta2), atol=atol)


@given(seeds, kinds, sizes, log_etas)
def test_equivariant_under_permutations(seed, kind, n, log_eta):
    K, eta2 = draw(seed, kind, n, log_eta)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(n), rng.permutation(n)
    permuted = plan_of(as_dense(K)[rows][:, columns], eta2)
    np.testing.assert_allclose(permuted, plan_of(K, eta2)[rows][:, columns], atol=1e-6)


@given(seeds, kinds, sizes, log_etas)
def test_symmetric_for_symmetric_input(seed, kind, n, log_eta):
    K, eta2 = draw(seed, kind, n, log_eta)
    K = as_dense(K) + as_dense(K).T
    result = project_doubly_stochastic(K, eta2)
    A = as_dense(result.plan)
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_array_equal(*result.potentials)


@given(seeds, kinds, sizes, log_etas, st.floats(1e-6, 10.0))
def test_not_expansive(seed, kind, n, log_eta, size):
    K, eta2 = draw(seed, kind, n, log_eta)
    moved = as_dense(K) + size * eta2 * np.random.default_rng(seed).standard_normal((n, n))
    distance = np.linalg.norm(plan_of(moved, eta2) - plan_of(K, eta2))
    assert distance <= np.linalg.norm(moved - as_dense(K)) / eta2 * (1 + 1e-6) + 1e-6


@given(seeds, kinds, sizes, log_etas)
def test_dense_and_sparse_give_the_same(seed, kind, n, log_eta):
    K, eta2 = draw(seed, kind, n, log_eta)
    sparse_plan = plan_of(sparse.csr_array(as_dense(K)), eta2)
    np.testing.assert_allclose(sparse_plan, plan_of(as_dense(K), eta2), atol=1e-6)


@given(seeds, kinds, sizes)
def test_single_precision_input_is_close_to_double(seed, kind, n):
    K, eta2 = draw(seed, kind, n, 0.0)
    K = as_dense(K).astype(np.float32)
    np.testing.assert_array_equal(plan_of(K, eta2), plan_of(K.astype(np.float64), eta2))


@pytest.mark.parametrize("kind", ["dense", "symmetric", "low rank", "gram", "heavy tails"])
@pytest.mark.parametrize("n", [300, 500])
def test_the_support_grows_to_the_full_problem(kind, n, rng):
    K = random_problem(rng, kind, n)
    for eta2 in np.abs(K).max() * np.array([1e-3, 1e-1, 10.0]):
        result = project_doubly_stochastic(K, eta2)
        assert result.converged
        certify(K, eta2, result)


@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("ratio", [3e-7, 1e-5, 1e-3, 1e-1])
def test_hard_cases_reach_the_tolerance(kind, ratio, rng):
    """From ties to twelve decades, down to the smallest eta2 for which 1e-8 is owed."""
    K = random_problem(rng, kind, 400)
    eta2 = ratio * (np.abs(as_dense(K)).max() or 1.0)
    result = project_doubly_stochastic(K, eta2)
    assert result.converged, result.status
    certify(K, eta2, result)


def test_large_eta2_tends_to_uniform(rng):
    np.testing.assert_allclose(plan_of(rng.random((30, 30)), 1e12), 1 / 30, atol=1e-10)


@pytest.mark.parametrize("n", [5, 50, 200])
def test_small_eta2_tends_to_the_best_permutation(n, rng):
    K = rng.random((n, n))
    rows, columns = linear_sum_assignment(K, maximize=True)
    expected = np.zeros((n, n))
    expected[rows, columns] = 1.0
    result = project_doubly_stochastic(K, 1e-6)
    certify(K, 1e-6, result)
    np.testing.assert_allclose(as_dense(result.plan), expected, atol=1e-8)


@pytest.mark.parametrize("ratio", [1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_below_the_floor_the_status_says_so(kind, ratio, rng):
    K = random_problem(rng, kind, 60)
    largest = np.abs(as_dense(K)).max()
    result = ProjectionProblem.of_matrix(K).solve(ratio * (largest or 1.0))
    assert np.all(np.isfinite(as_dense(result.plan)))
    assert result.marginal_error <= 1e-3
    assert ("float64 resolves A only to" in result.status) == (largest > 0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("ratio", [1e-6, 1e-3, 1e-1])
@pytest.mark.parametrize("kind", ["dense", "duplicates", "heavy tails", "hub and spoke"])
def test_a_tolerance_below_rounding_gives_no_worse_plan(kind, ratio, rng):
    K = random_problem(rng, kind, 60)
    eta2 = ratio * np.abs(as_dense(K)).max()
    errors = []
    for tol in (1e-8, 1e-17, 1e-300):
        result = project_doubly_stochastic(K, eta2, tol=tol)
        A = as_dense(result.plan).astype(np.longdouble)
        errors.append(max(np.abs(A.sum(axis=axis) - 1).max() for axis in (0, 1)))
        if not result.converged:  # a plan can be exact, with a gap of zero
            assert "rounding in float64 allows no more; raise tol or eta2" in result.status
    assert result.n_iter < 200
    assert max(errors) <= max(2 * errors[0], 1e-14)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("size", [1e6, 1e9, 1e12])
def test_what_large_shifts_of_rows_and_columns_round_away_is_not_claimed(size, rng):
    rows, columns = size * rng.random((2, 100))
    K = rng.random((100, 100)) + rows[:, None] + columns
    # What is left of K in float64, with its shifts removed in extended precision.
    rest = (K.astype(np.longdouble) - rows[:, None] - columns).astype(np.float64)
    expected = plan_of(rest, 10.0)
    result = project_doubly_stochastic(K, 10.0)
    distance = np.linalg.norm(as_dense(result.plan) - expected)
    assert distance**2 / 2 <= (result.gap + 1e-12) * np.linalg.norm(expected) ** 2
    assert result.converged == (size < 1e12)


def test_an_eta2_beyond_float64_is_replaced_and_named(rng):
    K = rng.random((20, 20))
    with pytest.warns(ConvergenceWarning, match=r"solved for eta2=.* instead of 1e-300"):
        result = project_doubly_stochastic(K, 1e-300)
    assert not result.converged
    assert result.eta2 == 1e-12 * K.max()
    np.testing.assert_allclose(as_dense(result.plan).sum(axis=0), 1, atol=1e-6)


def test_absent_entries_of_a_sparse_matrix_are_zeros_not_forbidden():
    K = sparse.csr_array(([1.0], ([0], [1])), shape=(3, 3))
    np.testing.assert_allclose(plan_of(K, 10.0), plan_of(K.toarray(), 10.0), atol=1e-8)
    assert np.all(plan_of(K, 10.0) > 0)


def test_explicit_zeros_and_duplicates_of_a_sparse_matrix_change_nothing():
    K = sparse.coo_array(([1.0, 1.0, 0.0], ([0, 0, 2], [1, 1, 0])), shape=(3, 3))
    np.testing.assert_allclose(plan_of(K, 0.5), plan_of(K.toarray(), 0.5), atol=1e-8)


def test_a_sparse_problem_with_a_dense_answer_is_refused(monkeypatch):
    monkeypatch.setattr("dssc.stochastic.similarity.available_bytes", lambda: 10_000)
    with pytest.raises(MemoryError, match="lower eta2"):
        project_doubly_stochastic(sparse.csr_array((100, 100)), 1.0)


@pytest.mark.parametrize("kind", ["symmetric", "dense", "sparse"])
def test_a_warm_start_saves_steps_and_gives_the_same(kind, rng):
    K = random_problem(rng, kind, 200)
    problem = ProjectionProblem.of_matrix(K)
    cold = problem.solve(0.01)
    assert problem.solve(0.01, potentials=cold.potentials).n_iter == 0
    nearby = problem.solve(0.011, potentials=cold.potentials)
    assert nearby.n_iter < ProjectionProblem.of_matrix(K).solve(0.011).n_iter
    certify(K, 0.011, nearby)
    certify(K, 0.011, project_doubly_stochastic(K, 0.011, potentials=cold.potentials))


@pytest.mark.parametrize("size", [0.0, 1e3, 1e12])
def test_a_bad_warm_start_still_converges(size, rng):
    K = rng.random((50, 50))
    start = size * rng.standard_normal((2, 50))
    certify(K, 0.1, project_doubly_stochastic(K, 0.1, potentials=start))


def test_a_constant_moved_between_the_potentials_does_not_spoil_a_warm_start(rng):
    K = rng.random((50, 50))
    problem = ProjectionProblem.of_matrix(K)
    alpha, beta = problem.solve(0.1).potentials
    moved = problem.solve(0.1, potentials=(alpha + 1e4, beta - 1e4))
    assert moved.n_iter <= 1
    certify(K, 0.1, moved)


def test_one_thread_and_two_give_the_same_bits(thread_counts, rng):
    K = rng.random((400, 400))
    results = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        results.append(project_doubly_stochastic(K, 0.05))
    np.testing.assert_array_equal(as_dense(results[0].plan), as_dense(results[1].plan))
    np.testing.assert_array_equal(results[0].potentials, results[1].potentials)


def test_the_plan_is_sparse_only_where_that_takes_less_memory(rng):
    K = rng.random((50, 50))
    assert sparse.issparse(project_doubly_stochastic(K, 1e-3).plan)
    assert isinstance(project_doubly_stochastic(K, 1e3).plan, np.ndarray)


@pytest.mark.parametrize("kind", ["dense", "symmetric", "sparse", "symmetric sparse"])
def test_a_sparse_plan_has_short_indices(kind, rng):
    plan = project_doubly_stochastic(random_problem(rng, kind, 300), 1e-2).plan
    assert plan.indices.dtype == plan.indptr.dtype == np.int32


def test_the_input_is_not_changed(rng):
    K = rng.random((40, 40))
    sparse_K = sparse.csr_array(K * (K > 0.9))
    copies = K.copy(), sparse_K.copy()
    project_doubly_stochastic(K, 0.1)
    project_doubly_stochastic(sparse_K, 0.1)
    np.testing.assert_array_equal(K, copies[0])
    assert (sparse_K != copies[1]).nnz == 0


def test_too_few_steps_are_reported(rng):
    with pytest.warns(ConvergenceWarning, match=r"not converged: marginal error .* raise max_iter"):
        result = project_doubly_stochastic(rng.random((50, 50)), 1e-4, max_iter=2)
    assert not result.converged
    assert result.n_iter <= 2


def test_a_warning_points_at_the_line_that_called(rng):
    with pytest.warns(ConvergenceWarning, match="not converged") as record:
        project_doubly_stochastic(rng.random((50, 50)), 1e-4, max_iter=2)
    assert [warning.filename for warning in record] == [__file__]


def test_several_eta2_share_one_support(rng):
    K = rng.random((300, 300))
    problem = ProjectionProblem.of_matrix(K)
    for eta2 in (0.01, 0.1, 10.0, 0.01):
        certify(K, eta2, problem.solve(eta2))


@pytest.mark.parametrize(
    ("K", "eta2", "message"),
    [
        (np.ones((2, 3)), 1.0, r"square.*\(2, 3\)"),
        (np.ones(3), 1.0, r"shape is \(3,\)"),
        (np.ones((0, 0)), 1.0, "with rows and columns"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), 1.0, "1 NaN or infinite"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), 1.0, "2 NaN or infinite"),
        (sparse.csr_array([[0.0, np.nan], [1.0, 0.0]]), 1.0, "1 NaN or infinite"),
        (np.eye(2) * 1e305, 1.0, "rescale K"),
        (np.eye(2), 0.0, "eta2=0.0 must be a positive finite number"),
        (np.eye(2), -1.0, "eta2=-1.0"),
        (np.eye(2), np.nan, "eta2=nan"),
        (np.eye(2), np.inf, "eta2=inf"),
        (np.eye(2), "1", "eta2='1'"),
    ],
)
def test_bad_input_is_explained(K, eta2, message):
    with pytest.raises(ValueError, match=message):
        project_doubly_stochastic(K, eta2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"potentials": (np.zeros(2), np.zeros(3))}, r"lengths 2 and 2.*\(3,\)"),
        ({"potentials": (np.zeros(2), np.array([0.0, np.nan]))}, "NaN"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_bad_options_are_explained(options, message):
    with pytest.raises(ValueError, match=message):
        project_doubly_stochastic(np.eye(2), 1.0, **options)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_eta2_is_searched_for_a_number_of_neighbours(make, rng):
    K = np.abs(rng.standard_normal((80, 80)))
    K += K.T
    result = project_doubly_stochastic(make(K), n_neighbors=10)
    assert mean_neighbors(result.plan) == pytest.approx(10, rel=0.02)
    certify(K, result.eta2, result)
    pattern = sparse.csr_array(K > 1.0) + sparse.eye_array(80)
    restricted = project_doubly_stochastic(make(K), n_neighbors=6, support=pattern)
    assert mean_neighbors(restricted.plan) == pytest.approx(6, rel=0.02)
    assert not np.any(as_dense(restricted.plan)[pattern.toarray() == 0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either eta2 or n_neighbors; got eta2=None and n_neighbors=None"),
        ({"eta2": 1.0, "n_neighbors": 2}, "give either eta2 or n_neighbors; got eta2=1.0"),
        ({"n_neighbors": 5}, "n_neighbors=5 must be below n=5"),
        ({"n_neighbors": -1}, "n_neighbors=-1 must be a positive"),
        ({"n_neighbors": 2, "solver": "admm"}, "n_neighbors is for solver='newton'"),
        ({"n_neighbors": 2, "potentials": (np.zeros(5), np.zeros(5))}, "without potentials"),
    ],
)
def test_a_wrong_choice_of_eta2_is_explained(options, message):
    with pytest.raises(ValueError, match=message):
        project_doubly_stochastic(np.eye(5), **options)
