import torch

from dssc.engines.torch.joint.similarity import TorchSimilarity
from dssc.stochastic import ProjectionProblem


def test_projection_on_the_device_adds_what_its_first_entries_lack(where, rng):
    K = rng.random((300, 300)) ** 3
    K[:, :30] += 1.0  # columns that are large in all rows: most of A's entries are elsewhere
    expected = ProjectionProblem.of_matrix(K).solve(0.05)
    problem = ProjectionProblem(TorchSimilarity(torch.as_tensor(K, device=where)))
    result = problem.solve(0.05)
    assert result.converged
    assert abs(expected.plan - result.plan).max() < 1e-7
    again = problem.solve(0.05, potentials=expected.potentials)
    assert abs(expected.plan - again.plan).max() < 1e-7
