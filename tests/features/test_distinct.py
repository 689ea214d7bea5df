import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from dssc.features import DistinctRows, distinct_rows


def reference(X, with_opposites):
    """Compare all pairs of rows."""
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    cosines = np.abs(U @ U.T) if with_opposites else U @ U.T
    return np.argmax(cosines > 1 - 1e-9, axis=1)  # the first sample that is equal


def check(rows, X, with_opposites):
    first_equal = reference(X, with_opposites)
    np.testing.assert_array_equal(rows.first, np.unique(first_equal))
    np.testing.assert_array_equal(rows.first[rows.point_of], first_equal)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(rows.signs[:, None] * U[first_equal], U, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 4),
    st.booleans(),
    st.sampled_from(["array", "csr", "torch"]),
    st.integers(0, 2**32 - 1),
)
def test_rows_are_compared_as_all_pairs_are(n, d, with_opposites, kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    X[np.abs(X).max(axis=1) == 0] = 1.0
    X *= rng.choice([1.0, 0.3, 7.0], size=(n, 1))
    if kind == "torch":
        given = pytest.importorskip("torch").from_numpy(X)
    else:
        given = X if kind == "array" else sparse.csr_array(X)
    check(distinct_rows(given, with_opposites), X, with_opposites)


def test_many_batches_and_single_precision(rng):
    points = rng.standard_normal((900, 700)).astype(np.float32)
    X = points[rng.integers(900, size=2000)]
    check(distinct_rows(X), X.astype(float), with_opposites=False)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_scales(scale, rng):
    X = rng.standard_normal((20, 3))[rng.integers(20, size=50)]
    np.testing.assert_array_equal(distinct_rows(X * scale).point_of, distinct_rows(X).point_of)


@pytest.mark.parametrize("with_opposites", [False, True])
@pytest.mark.parametrize("kind", ["array", "torch"])
def test_rows_whose_products_are_equal_by_chance_are_distinct(kind, with_opposites, rng):
    """Mirror images at the vector that rows are multiplied with have the same product."""
    vector = np.random.default_rng(0).standard_normal(4)
    vector /= np.linalg.norm(vector)
    # Numbers of the same seed hold the vector itself, its own image, unless they are shifted.
    X = rng.standard_normal((200, 5))[:, 1:]
    X = np.concatenate([X, 2.0 * np.outer(X @ vector, vector) - X])
    X = pytest.importorskip("torch").from_numpy(X) if kind == "torch" else X
    assert not distinct_rows(X, with_opposites).has_copies


def test_close_rows_are_distinct(rng):
    x = rng.standard_normal(5)
    assert distinct_rows(np.array([x, x + 1e-9, x])).point_of.tolist() == [0, 1, 0]


def test_the_order_of_samples_is_kept():
    rows = distinct_rows(np.array([[3.0, 1.0], [0.0, 1.0], [6.0, 2.0], [0.0, -1.0]]), True)
    assert rows.first.tolist() == [0, 1]
    assert rows.point_of.tolist() == [0, 1, 0, 1]
    assert rows.signs.tolist() == [1.0, 1.0, 1.0, -1.0]
    assert rows.n_copies.tolist() == [2, 2]
    assert rows.are_clusters(2)
    assert not rows.are_clusters(1)
    assert not DistinctRows.separate(2).are_clusters(2)
