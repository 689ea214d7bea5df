import numpy as np
import pytest
import torch

from dssc.gpu import exact_rows, tiles
from dssc.gpu.factor import DeviceFactor
from dssc.gpu.problem import DeviceProblem


def points(rng, n=700, d=24):
    bases = rng.standard_normal((5, 3, d))
    X = np.einsum("nk,nkd->nd", rng.standard_normal((n, 3)), bases[np.arange(n) % 5])
    return X + 0.05 * rng.standard_normal((n, d))


def exact_similarity(problem):
    """Return K in the factor's order, from its float64 vectors."""
    f = problem.factor
    vectors = torch.cat([part for _, part in f.exact.parts()])
    h = (vectors @ vectors.T).abs()
    K = h * (f.scales[:, None] + f.scales) / 2
    return K.fill_diagonal_(0.0)


def test_products_and_scales_are_those_of_the_definition(where, rng):
    X = points(rng)
    factor = DeviceFactor(X, 0.5, where)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    h = unit @ np.linalg.solve(unit.T @ unit + 0.5 * np.eye(24), unit.T)
    order = factor.order.cpu().numpy()
    rows, columns = torch.as_tensor(rng.integers(0, 700, (2, 99)), device=where)
    found = factor.products(rows, columns).cpu().numpy()
    expected = h[order[rows.cpu()], order[columns.cpu()]]
    np.testing.assert_allclose(found, expected, atol=1e-13)
    np.testing.assert_allclose(factor.scales.cpu().numpy(), 1 / (1 - np.diag(h)[order]), rtol=1e-12)


def test_streamed_vectors_give_the_same_products(where, rng, monkeypatch):
    X = points(rng)
    held = DeviceFactor(X, 0.5, where)
    monkeypatch.setattr(exact_rows, "BLOCK", 128)
    monkeypatch.setattr(DeviceFactor, "_is_short_of_memory", lambda *_: True)
    streamed = DeviceFactor(X, 0.5, where)
    assert isinstance(streamed.exact, exact_rows.StreamedRows)
    rows, columns = torch.as_tensor(rng.integers(0, 700, (2, 999)), device=where)
    expected = held.products(rows, columns)
    torch.testing.assert_close(streamed.products(rows, columns), expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(streamed.scales, held.scales, rtol=1e-13, atol=0)
    torch.testing.assert_close(streamed.bounds.vectors, held.bounds.vectors)


@pytest.mark.parametrize("half", [False, True])
def test_bounds_are_never_below_the_similarities(half, where, rng):
    problem = DeviceProblem(points(rng), 0.5, where)
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
def test_filters_find_every_pair_above(joined, where, rng, monkeypatch):
    monkeypatch.setattr(tiles, "ROWS", 96)
    problem = DeviceProblem(points(rng), 0.5, where)
    K = exact_similarity(problem)
    level = float(K.quantile(0.98)) * (0.5 if joined else 1.0)
    thresholds = (level * (0.8 + 0.4 * torch.rand(700, device=where))).float()
    own = thresholds[:, None].double()
    limits = own + own.T if joined else torch.minimum(own, own.T)
    for module in (tiles, problem.filters):
        rows, columns = module.pairs_above(problem.bounds, thresholds, joined)
        assert bool((rows < columns).all())
        found = set((rows * 700 + columns).tolist())
        assert len(found) == len(rows)
        expected = torch.nonzero(torch.triu(limits < K, 1))
        assert {int(i) * 700 + int(j) for i, j in expected} <= found
        products = module.dots(problem.bounds.vectors, rows, columns)
        assert bool((problem.bounds.at(products, rows, columns).double() >= K[rows, columns]).all())
        loose = torch.nonzero(torch.triu(K * 1.02 + 1e-3 * K.max() > limits, 1))
        assert len(found) <= len(loose)


@pytest.mark.parametrize(("n_groups", "tiles_a_group"), [(3, 2), (2, 1)])
def test_group_maxima_are_those_of_the_tile(n_groups, tiles_a_group, where, rng, monkeypatch):
    monkeypatch.setattr(tiles, "ROWS", 96)
    problem = DeviceProblem(points(rng), 0.5, where)
    tile = problem.bounds.tile(slice(0, 700), slice(0, 700)).fill_diagonal_(-torch.inf)
    found = tiles.group_maxima(problem.bounds, n_groups, tiles_a_group)
    size = 128 * tiles_a_group
    for group in range(n_groups):
        expected = tile[:, size * group : size * (group + 1)].amax(dim=1)
        torch.testing.assert_close(found[:, group], expected, rtol=1e-5, atol=0)
