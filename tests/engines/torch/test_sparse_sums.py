import pytest
import torch

from dssc.engines.torch.sparse_sums import kernels_for
from tests.engines.torch.examples import dense_of


def test_positive_parts_are_those_of_the_dense_matrix(graph, where):
    w = torch.linspace(-0.1, 0.2, len(graph.indptr) - 1, dtype=torch.float64, device=where)
    sums, counts, positive = kernels_for(where).positive_parts(graph, w)
    slack = dense_of(graph, graph.values) - w[:, None] - w
    held = dense_of(graph, torch.ones_like(graph.values)) > 0
    expected = torch.where(held, slack, 0.0).clamp(min=0.0)
    torch.testing.assert_close(sums, expected.sum(dim=1), rtol=1e-13, atol=1e-15)
    assert torch.equal(counts, (expected > 0).sum(dim=1).double())
    assert torch.equal(dense_of(graph, positive.to(torch.int8)) > 0, expected > 0)


def test_one_newton_system_solves_for_any_subset_of_its_pattern(graph, where):
    n = len(graph.indptr) - 1
    kernels = kernels_for(where)
    system = kernels.NewtonSystem(graph)
    rhs = torch.linspace(-1.0, 3.0, n, dtype=torch.float64, device=where)
    for level in (0.05, 0.1, -0.05):
        _, counts, positive = kernels.positive_parts(graph, torch.full_like(rhs, level))
        diagonal = 1.1 * counts.clamp(min=1.0)
        x, residual, n_products = system.solve_for(positive, diagonal, rhs, 1e-12, 300)
        matrix = dense_of(graph, positive.to(torch.int8)).double() + torch.diag(diagonal)
        assert residual <= 1e-12
        assert n_products < 300
        torch.testing.assert_close(x, torch.linalg.solve(matrix, rhs), rtol=1e-9, atol=1e-10)


def test_row_thresholds_make_every_sum_right(graph, where):
    n = len(graph.indptr) - 1
    w = torch.linspace(-0.1, 0.2, n, dtype=torch.float64, device=where)
    targets = torch.linspace(0.5, 1.5, n, dtype=torch.float64, device=where)
    t = kernels_for(where).row_thresholds(graph, w, targets)
    slack = dense_of(graph, graph.values) - w - t[:, None]
    held = dense_of(graph, torch.ones_like(graph.values)) > 0
    sums = torch.where(held, slack, 0.0).clamp(min=0.0).sum(dim=1)
    torch.testing.assert_close(sums, targets, rtol=1e-12, atol=1e-12)


def test_product_is_that_of_the_dense_matrix(graph, where):
    x = torch.linspace(-1.0, 3.0, len(graph.indptr) - 1, dtype=torch.float64, device=where)
    product = kernels_for(where).product((graph.indptr, graph.columns, graph.values), x)
    expected = dense_of(graph, graph.values) @ x
    torch.testing.assert_close(product, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-13), (torch.float32, 1e-5)])
def test_combination_is_that_of_the_dense_matrix(dtype, tolerance, graph, where):
    n = len(graph.indptr) - 1
    csr = graph.indptr, graph.columns, graph.values.to(dtype)
    X = torch.linspace(-1.0, 1.0, n * 24, dtype=dtype, device=where).view(n, 24)
    previous = X.flip(0).contiguous()
    matrix = dense_of(graph, csr[2])
    combine = kernels_for(where).combination
    combined = combine(csr, X, 0.5, 0.25, previous, -2.0)
    expected = 0.5 * matrix @ X + 0.25 * X - 2.0 * previous
    torch.testing.assert_close(combined, expected, rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(
        combine(csr, X, 1.0, 0.0), matrix @ X, rtol=tolerance, atol=tolerance
    )
