import pytest
import torch

from dssc.engines.torch import pair_filters
from dssc.engines.torch.coarse_bounds import coarse_bounds, separated_limits
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


def test_coarse_bounds_are_never_below_the_others(where, rng):
    bounds = problem_of(points(rng), where).bounds
    coarse = coarse_bounds(bounds)
    assert coarse.vectors.dtype == torch.int8
    tiles = [b.tile(slice(0, 700), slice(0, 700)).double() for b in (coarse, bounds)]
    assert bool((tiles[0] >= tiles[1]).all())
    assert float((tiles[0] - tiles[1]).max()) < 0.1 * float(tiles[1].max())


@pytest.mark.parametrize("members_only", [False, True])
def test_filters_return_every_pair_above(members_only, where, rng, monkeypatch):
    monkeypatch.setattr(pair_filters, "ROWS", 96)
    problem = problem_of(points(rng), where)
    K = exact_similarity(problem)
    limits = (0.5 * float(K.quantile(0.98)) * (0.8 + 0.4 * torch.rand(700, device=where))).float()
    sums = limits[:, None].double() + limits
    members = torch.arange(1, 700, 5, device=where)
    counts = torch.ones((700, 700), dtype=torch.bool, device=where)
    if members_only:
        counts[:] = False
        counts[members] = counts[:, members] = True
    bounds, coarse = problem.bounds, problem.factor.coarse
    for module in (pair_filters, problem.factor.filters):
        done = []
        if members_only:
            found = module.pairs_of(members, bounds, coarse, limits, done.append)
        else:
            found = module.pairs_above(bounds, coarse, limits, done.append)
        rows, columns, values = found
        assert sum(done) == (len(members) * 700 if members_only else 700**2 / 2)
        assert bool((rows < columns).all())
        pairs = set((rows.long() * 700 + columns).tolist())
        assert len(pairs) == len(rows)
        expected = torch.nonzero(torch.triu((sums < K) & counts, 1))
        assert {int(i) * 700 + int(j) for i, j in expected} <= pairs
        assert bool((values.double() >= K[rows, columns]).all())
        loose = torch.nonzero(torch.triu((K * 1.02 + 1e-3 * K.max() > sums) & counts, 1))
        assert len(pairs) <= len(loose)


def test_limits_above_all_bounds_leave_no_pair(where, rng):
    problem = problem_of(points(rng), where)
    bounds, coarse = problem.bounds, problem.factor.coarse
    limits = torch.full((700,), 1e3, device=where)
    members = torch.arange(0, 700, 2, device=where)
    for module in (pair_filters, problem.factor.filters):
        for pairs in (
            module.pairs_above(bounds, coarse, limits, float),
            module.pairs_above_either(bounds, coarse, limits, float),
            module.pairs_of(members, bounds, coarse, limits, float),
        ):
            assert len(pairs.rows) == len(pairs.columns) == len(pairs.bounds) == 0


@pytest.mark.parametrize("signed", [False, True])
def test_pairs_above_either_threshold_hold_those_above_their_mean(signed, where, rng, monkeypatch):
    monkeypatch.setattr(pair_filters, "ROWS", 96)
    problem = problem_of(points(rng), where, 0.5, signed)
    largest = float(exact_similarity(problem).quantile(0.98))
    thresholds = (largest * (0.2 + torch.rand(700, device=where))).float()
    bounds, coarse = problem.bounds, problem.factor.coarse
    tile = bounds.tile(slice(0, 700), slice(0, 700))
    sums = thresholds[:, None] + thresholds
    least = torch.minimum(thresholds[:, None], thresholds)
    above_mean, above_one = (
        {int(i) * 700 + int(j) for i, j in torch.nonzero(torch.triu(tile > limits, 1))}
        for limits in (sums / 2 * 1.001, least * 0.999)
    )
    for module in (pair_filters, problem.factor.filters):
        rows, columns, _ = module.pairs_above_either(bounds, coarse, thresholds, lambda done: None)
        pairs = set((rows.long() * 700 + columns).tolist())
        assert above_mean <= pairs <= above_one
        assert len(pairs) > 0.95 * len(above_one)


@pytest.mark.parametrize("signed", [False, True])
def test_separated_limits_fail_no_pair_above(signed, where, rng):
    problem = problem_of(points(rng), where, 0.5, signed)
    bounds = problem.bounds
    limits = (
        float(exact_similarity(problem).max()) * (torch.rand(700, device=where) - 0.3)
    ).float()
    c, d = separated_limits(bounds, limits)
    products = bounds.vectors.double() @ bounds.vectors.double().T
    other_test = d[:, None] + d < 0 if signed else -products > d[:, None].double() + d
    may_pass = (products > c[:, None].double() + c) | other_test
    is_above = bounds.tile(slice(0, 700), slice(0, 700)) > limits[:, None] + limits
    assert 0.1 < float(is_above.double().mean()) < 0.9
    assert bool((may_pass | ~is_above).all())
    assert float(may_pass.double().mean()) < float(is_above.double().mean()) + 0.05


@pytest.mark.parametrize(("n_groups", "tiles_per_group"), [(3, 2), (2, 1)])
def test_group_maxima_are_those_of_the_tile(n_groups, tiles_per_group, where, rng, monkeypatch):
    monkeypatch.setattr(pair_filters, "ROWS", 96)
    problem = problem_of(points(rng), where)
    tile = problem.bounds.tile(slice(0, 700), slice(0, 700)).fill_diagonal_(-torch.inf)
    maxima = pair_filters.group_maxima(
        problem.bounds, n_groups, tiles_per_group, lambda amount: None
    )
    size = 128 * tiles_per_group
    for group in range(n_groups):
        expected = tile[:, size * group : size * (group + 1)].amax(dim=1)
        torch.testing.assert_close(maxima[:, group], expected, rtol=1e-5, atol=0)
