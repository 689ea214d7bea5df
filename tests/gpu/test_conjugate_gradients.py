import torch

from dssc.gpu.conjugate_gradients import ConjugateGradients


def system(n, seed, where):
    generator = torch.Generator().manual_seed(seed)
    half = torch.rand((n, n), generator=generator, dtype=torch.float64)
    return (half @ half.T + torch.eye(n, dtype=torch.float64)).to(where)


def test_solves_as_a_factorisation_does(where):
    matrix = system(40, 0, where)
    rhs = torch.linspace(-1.0, 1.0, 40, dtype=torch.float64, device=where)
    gradients = ConjugateGradients(lambda x: matrix @ x, matrix.diagonal().clone())
    x, n_steps = gradients.solve(rhs, 1e-12, 200)
    assert n_steps < 200
    torch.testing.assert_close(x, torch.linalg.solve(matrix, rhs), rtol=1e-8, atol=1e-10)


def test_a_record_follows_what_is_written_over(where):
    matrix, diagonal = system(30, 1, where), torch.empty(30, dtype=torch.float64, device=where)
    diagonal.copy_(matrix.diagonal())
    gradients = ConjugateGradients(lambda x: matrix @ x, diagonal, recorded=True)
    rhs = torch.linspace(0.5, 2.0, 30, dtype=torch.float64, device=where)
    for seed in (1, 2, 3):
        matrix.copy_(system(30, seed, where))
        diagonal.copy_(matrix.diagonal())
        x, _ = gradients.solve(rhs, 1e-12, 200)
        torch.testing.assert_close(x, torch.linalg.solve(matrix, rhs), rtol=1e-8, atol=1e-10)


def test_steps_end_with_the_residual(where):
    """Two unknowns are found in two steps; those up to the next look change nothing."""
    matrix = torch.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=torch.float64, device=where)
    gradients = ConjugateGradients(lambda x: matrix @ x, matrix.diagonal().clone())
    x, n_steps = gradients.solve(matrix[0], 1e-8, 60)
    assert n_steps == 4
    assert x.cpu().numpy().round(12).tolist() == [1.0, 0.0]
    nothing, n_steps = gradients.solve(torch.zeros_like(x), 1e-8, 60)
    assert n_steps == 0
    assert not nothing.any()
