import numpy as np
import pytest

from dssc.kernels import scan
from dssc.kernels.reference import scan as reference


def empty_lists(n, capacity):
    return (
        np.zeros((n, capacity), dtype=np.float32),
        np.full((n, capacity), -1, dtype=np.int32),
        np.zeros(n, dtype=np.int64),
        np.full(n, -np.inf, dtype=np.float32),
    )


@pytest.mark.parametrize("corner", [(0, 0), (0, 150)])
def test_keep_largest_and_shorten_lists_agree_with_numpy(corner, rng):
    n, height, width = 300, 130, 150
    tile = rng.standard_normal((height, width)).astype(np.float32)
    if corner == (0, 0):
        tile = tile[:, :height] + tile[:, :height].T
    weights = [rng.random(n).astype(np.float32) for _ in range(4)]
    results = []
    for kernels in (scan, reference):
        out = empty_lists(n, 12)
        kernels.keep_largest(tile, *corner, *weights, 8, 11, *out)
        kernels.shorten_lists(5, *out)
        results.append(out)
    (values, places, counts, thresholds), expected = results
    np.testing.assert_array_equal(counts, expected[2])
    np.testing.assert_allclose(thresholds, expected[3], rtol=1e-6)
    for i in np.flatnonzero(counts):
        ours = dict(zip(places[i, : counts[i]], values[i, : counts[i]], strict=True))
        theirs = dict(zip(expected[1][i, : counts[i]], expected[0][i, : counts[i]], strict=True))
        assert ours == pytest.approx(theirs, rel=1e-6)
        assert min(ours.values()) == thresholds[i]


@pytest.mark.parametrize("is_diagonal", [False, True])
def test_list_candidates_agrees_with_numpy(is_diagonal, rng):
    height, width = 130, 130 if is_diagonal else 150
    tile = rng.standard_normal((height, width)).astype(np.float32)
    of_rows = rng.random((4, height)).astype(np.float32)
    of_columns = rng.random((4, width)).astype(np.float32)
    of_rows[3] += 3
    of_columns[3] += 3
    results = []
    for kernels in (scan, reference):
        found = np.empty(tile.size, dtype=np.int32)
        products = np.empty(tile.size, dtype=np.float32)
        n = kernels.list_candidates(tile, is_diagonal, *of_rows, *of_columns, found, products)
        results.append((found[:n], products[:n]))
    assert 0 < len(results[0][0]) < tile.size / 4
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("kernels", [scan, reference])
def test_keep_listed_keeps_what_keep_largest_keeps_of_the_tile(kernels, rng):
    n, height = 300, 150
    tile = rng.standard_normal((height, height)).astype(np.float32)
    weights = rng.random((4, n)).astype(np.float32)
    lists = []
    for _ in range(2):
        lists.append(empty_lists(n, 12))
        lists[-1][3][:] = 1.5  # thresholds
    row, column = np.hsplit(np.concatenate([weights, lists[0][3][None]]), 2)
    found = np.empty(tile.size, dtype=np.int32)
    products = np.empty(tile.size, dtype=np.float32)
    sides = *row[[0, 1, 2, 4]], *column[[0, 1, 3, 4]]
    count = kernels.list_candidates(tile, False, *sides, found, products)
    kernels.keep_largest(tile, 0, height, *weights, 8, 11, *lists[0])
    kernels.shorten_lists(8, *lists[0])
    tiles = np.array([0, count]), np.array([0]), np.array([height]), np.array([height])
    rounds = np.array([8]), np.array([11]), np.array([True])
    for block in (1, 0):
        kernels.keep_listed(
            np.array([block]), height, found[:count], products[:count], *tiles,
            np.array([[0, 0]]), *weights, *rounds, *lists[1],
        )  # fmt: skip
    assert 0 < count < tile.size
    for whole, listed in zip(*lists, strict=True):
        np.testing.assert_array_equal(whole, listed)


def test_keep_listed_plays_several_rounds(rng):
    """Five blocks of 20 points, the last one shorter: in each round, one of them has no tile."""
    size, n = 20, 95
    meetings = [(0, 1), (2, 3), (0, 2), (1, 4), (3, 4), (0, 2)]
    tiles = np.array([[0, 0, 1, 1, -1], [2, 3, 2, -1, 3], [5, -1, 5, 4, 4]])
    rows, columns = size * np.array(meetings).T
    widths = np.minimum(size, n - columns)
    found = [np.sort(rng.choice(size * w, 60, replace=False)) for w in widths]
    starts = np.arange(0, 361, 60)
    weights = rng.random((4, n)).astype(np.float32)
    products = rng.standard_normal(360).astype(np.float32)
    rounds = np.array([2, 3, 4]), np.array([3, 5, 6]), np.array([False, True, False])
    lists = [empty_lists(n, 6), empty_lists(n, 6)]
    for kernels, kept in zip((scan, reference), lists, strict=True):
        for blocks in (np.array([3, 1]), np.array([0, 2, 4])):
            kernels.keep_listed(
                blocks, size, np.concatenate(found).astype(np.int32), products, starts,
                rows, columns, widths, tiles, *weights, *rounds, *kept,
            )  # fmt: skip
    assert np.isfinite(lists[0][3]).sum() > 40
    np.testing.assert_array_equal(lists[0][2], lists[1][2])
    np.testing.assert_allclose(lists[0][3], lists[1][3], rtol=1e-6)
    for i, count in enumerate(lists[0][2]):
        ours, theirs = (np.sort(kept[1][i, :count]) for kept in lists)
        np.testing.assert_array_equal(ours, theirs)


def test_paired_products_agree_with_numpy(rng):
    left, right = rng.standard_normal((30, 37)), rng.standard_normal((20, 37))
    halves = []
    for exact in (left, right):
        vectors = exact.astype(np.float32)
        halves.append((vectors, (exact - vectors).astype(np.float32)))
    rows, columns = rng.integers(0, 30, 200), rng.integers(0, 20, 200)
    out, expected = np.empty(200), np.empty(200)
    for kernels, result in ((scan, out), (reference, expected)):
        kernels.paired_products(*halves[0], rows, *halves[1], columns, result)
    np.testing.assert_allclose(out, expected, atol=1e-14)
    np.testing.assert_allclose(out, np.sum(left[rows] * right[columns], axis=1), atol=1e-12)


def test_mark_above_agrees_with_numpy(rng):
    tile = rng.standard_normal((40, 70)).astype(np.float32)
    rows = [rng.random(40).astype(np.float32) for _ in range(3)]
    columns = [rng.random(70).astype(np.float32) for _ in range(3)]
    arguments = tile, rows[0], columns[0], rows[1], columns[1], rows[2], columns[2]
    marks, expected = np.empty(tile.shape, dtype=bool), np.empty(tile.shape, dtype=bool)
    scan.mark_above(*arguments, marks)
    reference.mark_above(*arguments, expected)
    assert 0 < expected.sum() < expected.size
    np.testing.assert_array_equal(marks, expected)
