import numpy as np
import pytest
from scipy import sparse

from dssc import ADSSC
from dssc.engines.torch import pair_search, projection_problem
from dssc.result import ProjectionResult
from dssc.stochastic import ProjectionProblem
from dssc.stochastic.certificate import duality_gap
from dssc.stochastic.factored_similarity import ListLength
from tests.engines.torch.examples import exact_similarity, points, problem_of
from tests.judge import certify


def in_sample_order(problem):
    order = problem.factor.order.cpu().numpy()
    K = np.empty(problem.shape)
    K[np.ix_(order, order)] = exact_similarity(problem).cpu().numpy()
    return (K + K.T) / 2


@pytest.mark.parametrize("eta2", [1e-3, 0.05, 3.0])
@pytest.mark.parametrize("exact_thresholds", [True, False])
@pytest.mark.parametrize(("eta1", "signed"), [(0.5, False), (0.5, True), (np.inf, True)])
def test_the_projection_is_the_one_of_the_whole_matrix(
    eta2, exact_thresholds, eta1, signed, where, rng, monkeypatch
):
    if not exact_thresholds:  # from groups of columns, as for many points
        monkeypatch.setattr(pair_search, "EXACT_THRESHOLDS", 10)
        monkeypatch.setattr(pair_search, "GROUPS", 4)
    problem = problem_of(points(rng, n=600), where, eta1, signed)
    K = in_sample_order(problem)
    result = problem.solve(eta2)
    assert result.converged, result.status
    certify(K, eta2, result)
    whole = ProjectionProblem.of_matrix(K).solve(eta2)
    plans = [p.toarray() if sparse.issparse(p) else p for p in (result.plan, whole.plan)]
    np.testing.assert_allclose(*plans, atol=1e-8)


def test_potentials_that_fall_below_the_filter_make_it_run_again(where, rng, monkeypatch):
    monkeypatch.setattr(projection_problem, "MARGIN", 1e-6)
    monkeypatch.setattr(projection_problem, "ROUGH_PAIRS", ListLength(0.0, 3, 0))
    problem = problem_of(points(rng, n=400), where)
    result = problem.solve(0.2)
    assert result.n_rescanned > 0
    assert result.converged, result.status
    certify(in_sample_order(problem), 0.2, result)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("max_iter", [1, 3])
def test_the_gap_of_a_rough_plan_is_that_of_the_cpu(max_iter, where, rng):
    problem = problem_of(points(rng, n=300), where)
    result = problem.solve(0.01, tol=1e-12, max_iter=max_iter)
    ones = np.ones(300)
    gap = duality_gap(
        sparse.csr_array(result.plan),
        lambda rows, columns: np.zeros(len(rows)),  # on the diagonal
        result.potentials,
        (ones, ones),
        0.01,
        tol=np.inf,
        symmetric=True,
    )
    assert result.gap == pytest.approx(gap, rel=1e-6)


def test_a_sparse_plan_has_short_indices(where, rng):
    plan = problem_of(points(rng, n=300), where).solve(1e-3).plan
    assert plan.indices.dtype == plan.indptr.dtype == np.int32


def test_several_eta2_share_one_search(where, rng):
    problem = problem_of(points(rng, n=400), where)
    K = in_sample_order(problem)
    for eta2 in (0.01, 0.02, 0.005):
        certify(K, eta2, problem.solve(eta2))


def test_a_result_in_main_memory_holds_nothing_of_the_device(where, rng):
    result = problem_of(points(rng, n=100), where).solve(0.05)
    host = result.in_main_memory()
    assert type(host) is ProjectionResult
    assert not set(vars(host)) & {"device_plan", "device_coefficients"}
    assert host.status == result.status


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components")
@pytest.mark.parametrize(
    "options", [{"eta1": 0.5}, {"eta1": 0.5, "signed": True}, {"eta1": np.inf, "signed": True}]
)
def test_coefficients_are_those_of_the_cpu(options, device, rng):
    X = points(rng, n=300)
    models = [ADSSC(5, **options, eta2=0.02, device=d, random_state=0) for d in ("cpu", device)]
    cpu, other = (model.fit(X) for model in models)
    C = other.representation_matrix_.toarray()
    np.testing.assert_allclose(C, np.where(C != 0, cpu.representation_matrix_, 0.0), atol=1e-10)
    positive = other.affinity_matrix_.toarray() > 0
    np.fill_diagonal(positive, False)
    assert np.array_equal(C != 0, positive)


def test_wide_bounds_neither_spoil_rough_potentials_nor_fill_the_graph(where, rng):
    X = points(rng, n=500)
    narrow = problem_of(X, where).solve(0.01)
    problem = problem_of(X, where)
    K = in_sample_order(problem)
    wide = 0.02 * float(problem.bounds.vectors.double().square().sum(dim=1).max())
    problem.factor.bounds = problem.bounds._replace(errors=problem.bounds.errors + wide)
    problem.bounds = problem.factor.bounds
    problem.factor.__dict__.pop("coarse", None)
    result = problem.solve(0.01)
    certify(K, 0.01, result)
    assert result.n_rescanned < 0.3 * 500
    assert len(result.device_pairs.rows) < 2 * len(narrow.device_pairs.rows)
