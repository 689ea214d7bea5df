import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dssc import ADSSC
from dssc.gpu import problem as problem_module
from dssc.gpu.graph import DeviceGraph, components
from dssc.gpu.newton import solve_dual
from dssc.gpu.problem import DeviceProblem
from dssc.stochastic import ProjectionProblem
from tests.gpu.test_filters import exact_similarity, points
from tests.judge import certify


def in_sample_order(problem):
    order = problem.factor.order.cpu().numpy()
    K = np.empty(problem.shape)
    K[np.ix_(order, order)] = exact_similarity(problem).cpu().numpy()
    return (K + K.T) / 2


@pytest.mark.parametrize("eta2", [1e-3, 0.05, 3.0])
@pytest.mark.parametrize("small", [True, False])
def test_the_projection_is_the_one_of_the_whole_matrix(eta2, small, where, rng, monkeypatch):
    if not small:  # rough thresholds from groups of columns, as for many points
        monkeypatch.setattr(problem_module, "SMALL", 10)
        monkeypatch.setattr(problem_module, "GROUPS", 4)
    problem = DeviceProblem(points(rng, n=600), 0.5, where)
    K = in_sample_order(problem)
    result = problem.solve(eta2)
    assert result.converged, result.status
    certify(K, eta2, result)
    whole = ProjectionProblem(K).solve(eta2)
    plans = [p.toarray() if sparse.issparse(p) else p for p in (result.plan, whole.plan)]
    np.testing.assert_allclose(*plans, atol=1e-8)


def test_potentials_that_fall_below_the_filter_make_it_run_again(where, rng, monkeypatch):
    monkeypatch.setattr(problem_module, "MARGIN", 1e-6)
    monkeypatch.setattr(problem_module, "NEIGHBORS", (0.0, 3, 0))
    problem = DeviceProblem(points(rng, n=400), 0.5, where)
    result = problem.solve(0.2)
    assert result.n_rescanned > 0
    assert result.converged, result.status
    certify(in_sample_order(problem), 0.2, result)


def test_several_eta2_share_one_search(where, rng):
    problem = DeviceProblem(points(rng, n=400), 0.5, where)
    K = in_sample_order(problem)
    for eta2 in (0.01, 0.02, 0.005):
        certify(K, eta2, problem.solve(eta2))


def test_coefficients_are_those_of_the_cpu(device, rng):
    X = points(rng, n=300)
    models = [ADSSC(5, eta1=0.5, eta2=0.02, device=d, random_state=0) for d in ("cpu", device)]
    cpu, other = (model.fit(X) for model in models)
    C = other.representation_matrix_.toarray()
    np.testing.assert_allclose(C, np.where(C != 0, cpu.representation_matrix_, 0.0), atol=1e-10)
    positive = other.affinity_matrix_.toarray() > 0
    np.fill_diagonal(positive, False)
    assert np.array_equal(C != 0, positive)


def test_newton_stops_when_told(where, rng):
    rows, columns = torch.triu_indices(40, 40, 1, device=where)
    values = torch.rand(len(rows), dtype=torch.float64, device=where)
    graph = DeviceGraph.of_pairs(rows, columns, values, 40)
    short = solve_dual(graph, 1e-3, None, 1e-12, 2)
    assert short.n_iter == 2
    assert short.error > 1e-12
    full = solve_dual(graph, 1e-3, None, 1e-10, 1000)
    assert full.error <= 1e-10


@pytest.mark.parametrize("density", [0.0, 0.005, 0.02, 0.5])
def test_components_are_those_of_scipy(density, where, rng):
    G = sparse.random_array((200, 200), density=density, rng=rng, format="coo")
    G = sparse.coo_array(G + G.T)
    rows, columns = (torch.as_tensor(part, device=where).long() for part in (G.row, G.col))
    found = components(rows, columns, 200).cpu().numpy()
    _, expected = connected_components(G, directed=False)
    assert len(np.unique(found)) == len(np.unique(expected))
    assert len(set(zip(found, expected, strict=True))) == len(np.unique(expected))
