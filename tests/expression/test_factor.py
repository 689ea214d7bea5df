import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from dssc import least_squares_representation, unit_norm
from dssc.expression import LeastSquaresFactor


def all_products(factor, n):
    rows, columns = np.divmod(np.arange(n * n), n)
    return factor.products(rows, columns).reshape(n, n)


@pytest.mark.parametrize("eta1", [1e-4, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_products_are_the_least_squares_representation(eta1, dtype, make, rng):
    X = (rng.standard_normal((90, 12)) * (rng.random((90, 12)) < 0.7) + 0.01).astype(dtype)
    factor = LeastSquaresFactor(make(X), eta1)
    h = all_products(factor, 90)
    np.testing.assert_array_equal(h, h.T)
    np.testing.assert_allclose(np.diag(h), factor.norms**2, rtol=1e-9)
    C = h * factor.scales[:, None]
    np.fill_diagonal(C, 0.0)
    expected = least_squares_representation(unit_norm(X.astype(np.float64)), eta1)
    np.testing.assert_allclose(C, expected, atol=1e-9)


def test_blocks_do_not_show(rng, monkeypatch):
    X = rng.standard_normal((50, 7))
    rows, columns = rng.integers(0, 50, (2, 400))
    whole = LeastSquaresFactor(X, 0.5).products(rows, columns)
    monkeypatch.setattr("dssc.expression.factor.BLOCK", 8)
    monkeypatch.setattr("dssc.expression.gram.BLOCK", 8)
    np.testing.assert_allclose(
        LeastSquaresFactor(X, 0.5).products(rows, columns), whole, rtol=1e-12
    )


@pytest.mark.parametrize("d", [3, 40, 400])
def test_rounding_bounds_the_products_of_the_vectors(d, rng):
    X = rng.standard_normal((200, d))
    factor = LeastSquaresFactor(X, 0.1)
    order = factor.order
    exact = all_products(factor, 200)[np.ix_(order, order)]
    error = np.abs(factor.vectors @ factor.vectors.T - exact)
    norms = factor.norms[order]
    assert np.all(error <= factor.rounding * np.outer(norms, norms))
    assert error.max() > 0  # the bound is about something


def test_samples_of_any_size_are_scaled(rng):
    X = rng.standard_normal((60, 5))
    sizes = 10.0 ** rng.integers(-150, 150, 60)
    pairs = np.arange(59), np.arange(1, 60)
    np.testing.assert_allclose(
        LeastSquaresFactor(X * sizes[:, None], 1.0).products(*pairs),
        LeastSquaresFactor(X, 1.0).products(*pairs),
        rtol=1e-9,
    )


def test_a_memory_map_keeps_its_vectors_on_disk(tmp_path, rng):
    X = rng.standard_normal((64, 6))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    factor = LeastSquaresFactor(np.asarray(mapped), 1.0)
    assert isinstance(factor.vectors, np.memmap)
    np.testing.assert_array_equal(factor.vectors, LeastSquaresFactor(X, 1.0).vectors)
    assert [file.name for file in tmp_path.iterdir()] == ["X.npy"]


def test_products_are_the_same_whether_computed_or_remembered(rng):
    X = rng.standard_normal((60, 7))
    factor = LeastSquaresFactor(X, 0.3)
    rows, columns = rng.integers(0, 60, (2, 500))
    first = factor.products(rows[:300], columns[:300])
    both = factor.products(columns, rows)
    np.testing.assert_array_equal(both[:300], first)
    np.testing.assert_array_equal(both, LeastSquaresFactor(X, 0.3).products(rows, columns))


def test_an_eta1_whose_coefficients_vanish_is_refused(rng):
    X = rng.standard_normal((9, 4))
    with pytest.raises(ValueError, match=r"eta1=1e\+100 is so large .* use numpy.inf"):
        LeastSquaresFactor(X, 1e100)
    factor = LeastSquaresFactor(X, 1e28)
    cosines = unit_norm(X) @ unit_norm(X).T
    np.testing.assert_allclose(1e28 * all_products(factor, 9), cosines, rtol=1e-10)


def test_rows_of_products_do_not_depend_on_the_number_of_threads(rng):
    factor = LeastSquaresFactor(rng.standard_normal((5000, 300)).astype(np.float32), 1.0)
    rows = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            rows.append(factor.product_rows(np.arange(32)))
    np.testing.assert_array_equal(*rows)
    expected = factor.vectors[:32].astype(np.float64) @ factor.vectors.T.astype(np.float64)
    np.testing.assert_allclose(rows[0], expected, atol=1e-6)


def test_vectors_do_not_depend_on_the_number_of_threads(rng):
    X = rng.standard_normal((800, 400))
    vectors = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, user_api="blas"):
            factor = LeastSquaresFactor(X, 1.0)
            vectors.append([factor.vectors, factor.corrections])
    np.testing.assert_array_equal(*vectors)
