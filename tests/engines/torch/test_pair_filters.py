import pytest
import torch

from dssc.engines.torch import pair_filters
from tests.engines.torch.examples import exact_similarity, points, problem_of


@pytest.mark.parametrize("half", [False, True])
def test_bounds_are_never_below_the_similarities(half, where, rng):
    problem = problem_of(points(rng), where)
    bounds = problem.bounds
    if half and where.type == "cpu":  # what a GPU stores
        rounded = bounds.vectors.half().float()
        norms = torch.linalg.vector_norm(bounds.vectors, dim=1)
        off = (torch.linalg.vector_norm(bounds.vectors - rounded, dim=1) / norms).max()
        bounds = bounds._replace(vectors=rounded, errors=bounds.errors + 1.03 * off * norms**2)
    tile = bounds.tile(slice(0, 700), slice(0, 700)).double()
    K = exact_similarity(problem)
    off_diagonal = ~torch.eye(700, dtype=torch.bool, device=where)
    assert bool((tile >= K)[off_diagonal].all())
    assert float((tile - K)[off_diagonal].max()) < 1e-2 * float(K.max())


@pytest.mark.parametrize("joined", [False, True])
def test_filters_return_every_pair_above(joined, where, rng, monkeypatch):
    monkeypatch.setattr(pair_filters, "ROWS", 96)
    problem = problem_of(points(rng), where)
    K = exact_similarity(problem)
    level = float(K.quantile(0.98)) * (0.5 if joined else 1.0)
    thresholds = (level * (0.8 + 0.4 * torch.rand(700, device=where))).float()
    own = thresholds[:, None].double()
    limits = own + own.T if joined else torch.minimum(own, own.T)
    for module in (pair_filters, problem.filters):
        rows, columns = module.pairs_above(problem.bounds, thresholds, joined)
        assert bool((rows < columns).all())
        pairs = set((rows * 700 + columns).tolist())
        assert len(pairs) == len(rows)
        expected = torch.nonzero(torch.triu(limits < K, 1))
        assert {int(i) * 700 + int(j) for i, j in expected} <= pairs
        products = module.dots(problem.bounds.vectors, rows, columns)
        assert bool((problem.bounds.at(products, rows, columns).double() >= K[rows, columns]).all())
        loose = torch.nonzero(torch.triu(K * 1.02 + 1e-3 * K.max() > limits, 1))
        assert len(pairs) <= len(loose)


@pytest.mark.parametrize(("n_groups", "tiles_per_group"), [(3, 2), (2, 1)])
def test_group_maxima_are_those_of_the_tile(n_groups, tiles_per_group, where, rng, monkeypatch):
    monkeypatch.setattr(pair_filters, "ROWS", 96)
    problem = problem_of(points(rng), where)
    tile = problem.bounds.tile(slice(0, 700), slice(0, 700)).fill_diagonal_(-torch.inf)
    maxima = pair_filters.group_maxima(problem.bounds, n_groups, tiles_per_group)
    size = 128 * tiles_per_group
    for group in range(n_groups):
        expected = tile[:, size * group : size * (group + 1)].amax(dim=1)
        torch.testing.assert_close(maxima[:, group], expected, rtol=1e-5, atol=0)
