import numpy as np
import pytest
import torch

from dssc._devices import as_array
from dssc.engines.torch.dual import TorchDual
from dssc.engines.torch.graph import TorchGraph
from dssc.stochastic import newton
from dssc.stochastic.newton import solve_dual
from tests.engines.torch.examples import dense_of

TOL = 1e-10


@pytest.fixture
def dual(graph, where):
    """A dual whose targets are not all one."""
    targets = torch.linspace(0.5, 1.5, graph.n_rows, dtype=torch.float64, device=where)
    return TorchDual(graph, targets)


@pytest.fixture
def w(dual, rng):
    """Potentials at which about half of the slacks are positive."""
    return dual.from_host(rng.uniform(0.0, 0.25, dual.n_vertices))


def test_entries_are_the_same_in_main_memory(dual):
    host = dual.on_host()
    for vertex in range(host.n_vertices):
        at = slice(host.graph.indptr[vertex], host.graph.indptr[vertex + 1])
        row = np.zeros(host.n_vertices)
        row[host.graph.indices[at]] = host.graph.values[at]
        expected = dense_of(dual.graph, dual.graph.values)[vertex].cpu().numpy()
        np.testing.assert_array_equal(row, expected)
    np.testing.assert_array_equal(host.targets, dual.targets.cpu().numpy())


def test_without_targets_rows_sum_to_one(graph):
    np.testing.assert_array_equal(TorchDual(graph).on_host().targets, np.ones(graph.n_rows))


def test_every_operation_is_that_of_the_cpu(dual, w):
    host, host_w = dual.on_host(), as_array(w)
    assert dual.n_vertices == host.n_vertices
    assert dual.similarity_range() == host.similarity_range()
    assert_same(dual, dual.zeros(), host.zeros())
    assert_same(dual, dual.slacks(w), host.slacks(host_w))
    relative, host_relative = dual.relative_to(w, 0.3), host.relative_to(host_w, 0.3)
    assert_same(dual, relative.graph.values, host_relative.graph.values)
    assert_same(dual, relative.targets, host_relative.targets)
    point, host_point = dual.at(w), host.at(host_w)
    assert_same(dual, point.sums, host_point.sums)
    assert_same(dual, point.counts, host_point.counts)
    assert_same(dual, dual.row_thresholds(w), host.row_thresholds(host_w))
    assert dual.dot(w, point.sums) == pytest.approx(host.dot(host_w, host_point.sums), rel=1e-13)


def test_linear_solves_are_those_of_the_cpu(dual, w):
    host, host_w = dual.on_host(), as_array(w)
    point, host_point = dual.at(w), host.at(host_w)
    diagonal = point.counts.clip(min=1) * 1.01
    rhs = point.sums - dual.targets
    system = as_array(diagonal), as_array(rhs)
    expected = host.factorised_solve(host_point, *system)
    assert_same(dual, dual.factorised_solve(point, diagonal, rhs), expected)
    solution = dual.conjugate_gradients(point, diagonal, rhs, 1e-12, 500)
    assert solution.residual <= 1e-12
    assert solution.n_products < 500
    np.testing.assert_allclose(as_array(solution.x), expected, rtol=1e-9, atol=1e-11)
    host_solution = host.conjugate_gradients(host_point, *system, 1e-12, 500)
    np.testing.assert_allclose(host_solution.x, expected, rtol=1e-9, atol=1e-11)
    unfinished = dual.conjugate_gradients(point, diagonal, rhs, 1e-12, 4)
    assert unfinished.residual > 1e-12


def assert_same(dual, x, expected):
    np.testing.assert_allclose(as_array(x), expected, rtol=1e-12, atol=1e-13)


def complete_graph(n, where):
    generator = torch.Generator().manual_seed(0)
    rows, columns = torch.triu_indices(n, n, 1)
    values = torch.rand(len(rows), generator=generator, dtype=torch.float64)
    return TorchGraph.of_pairs(rows.to(where), columns.to(where), values.to(where), n)


def assert_optimal(graph, solution, eta):
    """Assert that A, the positive part of all slacks, is symmetric with row sums of one."""
    w = solution.potentials
    slack = (dense_of(graph, graph.values) - w[:, None] - w) / eta
    held = dense_of(graph, torch.ones_like(graph.values)) > 0
    sums = torch.where(held, slack, 0.0).clamp(min=0.0).sum(dim=1)
    assert float((sums - 1.0).abs().max()) <= 1e-8
    assert solution.error <= TOL


def test_newton_stops_at_the_most_steps(where):
    graph = complete_graph(40, where)
    short = solve_dual(TorchDual(graph), 1e-3, None, 1e-12, 2)
    assert short.n_iter == 2
    assert short.error > 1e-12
    full = solve_dual(TorchDual(graph), 1e-3, None, TOL, 1000)
    assert_optimal(graph, full, 1e-3)


def test_an_implausible_start_is_ignored(where):
    graph = complete_graph(60, where)
    cold = solve_dual(TorchDual(graph), 1e-2, None, TOL, 1000)
    far = solve_dual(TorchDual(graph), 1e-2, 1e6 * cold.potentials, TOL, 1000)
    assert far.n_iter <= cold.n_iter + 1
    assert_optimal(graph, far, 1e-2)
    warm = solve_dual(TorchDual(graph), 1e-2, cold.potentials, TOL, 1000)
    assert warm.n_iter <= 1


def test_systems_that_conjugate_gradients_leave_are_factorised(where, monkeypatch):
    graph = complete_graph(60, where)
    expected = solve_dual(TorchDual(graph), 1e-3, None, TOL, 1000)
    factorised, calls = TorchDual.factorised_solve, []

    def noted(dual, *arguments):
        calls.append(dual)
        return factorised(dual, *arguments)

    monkeypatch.setattr(newton, "CG_STEPS", 1)
    monkeypatch.setattr(TorchDual, "factorised_solve", noted)
    solution = solve_dual(TorchDual(graph), 1e-3, None, TOL, 1000)
    assert calls
    assert_optimal(graph, solution, 1e-3)
    plans = (result.slack.clamp(min=0.0) for result in (solution, expected))
    torch.testing.assert_close(*plans, rtol=0, atol=1e-8)


def test_a_stage_that_stalls_is_left_to_the_interior_point_method(where, monkeypatch):
    graph = complete_graph(60, where)
    central, steps = newton.central_potentials, []

    def noted(*arguments):
        w, n_steps = central(*arguments)
        steps.append(n_steps)
        return w, n_steps

    monkeypatch.setattr(newton, "STAGE_STEPS", 3)
    monkeypatch.setattr(newton, "central_potentials", noted)
    solution = solve_dual(TorchDual(graph), 1e-4, None, TOL, 1000)
    assert steps
    assert solution.n_iter > sum(steps) > 0
    assert_optimal(graph, solution, 1e-4)
