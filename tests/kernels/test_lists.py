import numpy as np
import pytest
from scipy import sparse

from dssc.kernels import lists
from dssc.kernels.reference import lists as reference

both = pytest.mark.parametrize("kernels", [lists, reference], ids=["numba", "numpy"])


def sorted_lists(rng, n, capacity, ties):
    """Return lists of the largest entries of a symmetric matrix, as the scan leaves them."""
    K = rng.random((n, n))
    K = np.round(K, 1) if ties else K
    K = np.triu(K, 1) + np.triu(K, 1).T
    counts = rng.integers(0, capacity + 1, n)
    places = np.argsort(-K + 9 * np.eye(n), axis=1, kind="stable")[:, :capacity].astype(np.int32)
    values = np.take_along_axis(K, places.astype(int), axis=1).astype(np.float32)
    limits = np.array([values[i, c - 1] if c else K.max() for i, c in enumerate(counts)])
    return values, places, counts, limits.astype(np.float32)


@pytest.mark.parametrize("ties", [False, True])
def test_the_graph_of_lists_agrees_with_numpy(ties, rng):
    arrays = sorted_lists(rng, 40, 9, ties)
    graphs = []
    for kernels in (lists, reference):
        degrees = np.ones(40, dtype=np.int64)  # one more than needed: position 0 stays free
        kernels.list_degrees(*arrays, degrees)
        indptr = np.concatenate([[0], np.cumsum(degrees)])
        ends = indptr[:-1] + 1
        indices, bounds = np.full(indptr[-1], -1, dtype=np.int32), np.zeros(indptr[-1])
        kernels.list_graph(*arrays, ends, indices, bounds)
        np.testing.assert_array_equal(ends, indptr[1:])
        rows = np.repeat(np.arange(40), degrees)
        graphs.append(sorted(zip(rows, indices, bounds, strict=True)))
    assert graphs[0] == graphs[1]


@pytest.mark.parametrize("ties", [False, True])
def test_entries_of_lists_above_potentials_agree_with_numpy(ties, rng):
    arrays = sorted_lists(rng, 40, 9, ties)
    own, others = 0.4 + 0.1 * rng.random((2, 40))
    results = []
    for kernels in (lists, reference):
        parts = []
        for part in (slice(0, 17), slice(17, 40)):
            lists_of_part = (array[part] for array in arrays[:3])
            places = np.full((2, 40 * 9), -1, dtype=np.int32)
            n = kernels.listed_above(
                part.start, *lists_of_part, arrays[3], own[part], others, *places
            )
            parts.append(places[:, :n])
        results.append(np.concatenate(parts, axis=1))
    np.testing.assert_array_equal(*results)
    # Every listed pair above its potentials is written, in one order or in both.
    pairs = set(map(frozenset, results[0].T.tolist()))
    values, places, counts, _ = arrays
    for i in range(40):
        for e in range(counts[i]):
            j = places[i, e]
            if i < j and values[i, e] > own[i] + others[j]:
                assert frozenset((i, int(j))) in pairs


@both
def test_merged_rows_are_those_of_the_sum(kernels, rng):
    whole = sparse.random_array((30, 20), density=0.4, random_state=rng, format="csr")
    whole.sort_indices()
    rows = np.repeat(np.arange(30), np.diff(whole.indptr))
    chosen = rng.random(whole.nnz) < 0.5
    parts = []
    for mask in (chosen, ~chosen):
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[mask], minlength=30))])
        parts.append((indptr, whole.indices[mask], whole.data[mask]))
    indptr = parts[0][0] + parts[1][0]
    indices, values = np.empty_like(whole.indices), np.empty_like(whole.data)
    kernels.merge_rows(*parts, indptr, indices, values)
    np.testing.assert_array_equal(indptr, whole.indptr)
    np.testing.assert_array_equal(indices, whole.indices)
    np.testing.assert_array_equal(values, whole.data)


def test_group_by_row_agrees_with_numpy(rng):
    rows, columns = rng.integers(0, 30, (2, 400), dtype=np.int32)
    rows[rows == 5] = 6  # row 5 is empty
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=30))])
    outcomes = []
    for kernels in (lists, reference):
        grouped, ends = np.empty_like(columns), indptr[:-1].copy()
        kernels.group_by_row(rows, columns, ends, grouped)
        np.testing.assert_array_equal(ends, indptr[1:])
        outcomes.append(grouped)
    np.testing.assert_array_equal(*outcomes)


@both
def test_pairs_are_found_in_any_order_or_not_at_all(kernels, rng):
    n = 20
    smaller, larger = np.triu_indices(n)
    keys = np.sort(rng.choice(smaller * n + larger, 60, replace=False))
    starts = np.searchsorted(keys, np.arange(n + 1) * n)
    rows, columns = rng.integers(0, n, (2, 500))
    places = np.empty(500, dtype=np.int64)
    kernels.find_pairs(keys, starts, rows, columns, places)
    known = {key: place for place, key in enumerate(keys.tolist())}
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    assert places.tolist() == [known.get(min(i, j) * n + max(i, j), -1) for i, j in pairs]
    kernels.find_pairs(keys[:0], 0 * starts, rows, columns, places)
    assert np.all(places == -1)
