import pytest
import torch

from dssc.engines.torch.conjugate_gradients import ConjugateGradients


def system(n, seed, where):
    generator = torch.Generator().manual_seed(seed)
    half = torch.rand((n, n), generator=generator, dtype=torch.float64)
    return (half @ half.T + torch.eye(n, dtype=torch.float64)).to(where)


def test_the_solution_is_that_of_a_factorisation(where):
    matrix = system(40, 0, where)
    rhs = torch.linspace(-1.0, 1.0, 40, dtype=torch.float64, device=where)
    gradients = ConjugateGradients(lambda x: matrix @ x, matrix.diagonal().clone())
    x, residual, n_products = gradients.solve(rhs, 1e-12, 200)
    assert n_products < 200
    assert residual <= 1e-12
    torch.testing.assert_close(x, torch.linalg.solve(matrix, rhs), rtol=1e-8, atol=1e-10)


def test_a_record_follows_a_matrix_that_is_overwritten(where):
    matrix, diagonal = system(30, 1, where), torch.empty(30, dtype=torch.float64, device=where)
    diagonal.copy_(matrix.diagonal())
    gradients = ConjugateGradients(lambda x: matrix @ x, diagonal, recorded=True)
    rhs = torch.linspace(0.5, 2.0, 30, dtype=torch.float64, device=where)
    for seed in (1, 2, 3):
        matrix.copy_(system(30, seed, where))
        diagonal.copy_(matrix.diagonal())
        x = gradients.solve(rhs, 1e-12, 200).x
        torch.testing.assert_close(x, torch.linalg.solve(matrix, rhs), rtol=1e-8, atol=1e-10)


def test_steps_end_with_the_residual(where):
    """Two unknowns take two steps; those up to the next look at the residual change nothing."""
    matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64, device=where)
    gradients = ConjugateGradients(lambda x: matrix @ x, matrix.diagonal().clone())
    x, residual, n_products = gradients.solve(matrix[0], 1e-8, 60)
    assert n_products == 4
    assert residual <= 1e-8
    assert x.cpu().numpy().round(12).tolist() == [1.0, 0.0]
    x, residual, n_products = gradients.solve(torch.zeros_like(x), 1e-8, 60)
    assert (residual, n_products) == (0.0, 0)
    assert not x.any()


def test_the_residual_of_an_unfinished_solve_is_the_true_one(where):
    matrix = system(40, 0, where)
    rhs = torch.linspace(-1.0, 1.0, 40, dtype=torch.float64, device=where)
    diagonal = matrix.diagonal().clone()
    x, residual, n_products = ConjugateGradients(lambda x: matrix @ x, diagonal).solve(rhs, 0.0, 4)
    assert n_products == 4
    left = rhs - matrix @ x
    expected = torch.sqrt((left @ (left / diagonal)) / (rhs @ (rhs / diagonal)))
    assert residual == pytest.approx(float(expected), rel=1e-9)
    assert residual > 1e-8
