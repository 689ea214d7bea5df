import numpy as np
import pytest
from scipy import sparse

from dssc.stochastic.spanning_forest import forest_correction


def test_the_sums_become_right_on_the_plans_own_entries(rng):
    for n, m in ((7, 7), (5, 9)):
        A = sparse.csr_array(rng.random((n, m)) * (rng.random((n, m)) < 0.7) + np.eye(n, m))
        a, b = A.sum(axis=1), A.sum(axis=0)
        A.data *= 1 + 1e-3 * rng.random(A.nnz)
        change, rows, columns = forest_correction(A, a, b)
        np.testing.assert_allclose((A + change).sum(axis=1), a, rtol=1e-14)
        np.testing.assert_allclose((A + change).sum(axis=0), b, rtol=1e-14)
        assert not change.toarray()[A.toarray() == 0].any()
        assert rows.max() <= 1e-15 * n
        assert columns.max() <= 1e-15 * m


def test_a_piece_without_matching_marginals_misses_its_difference():
    """Two rows share a column, and another row has two."""
    A = sparse.csr_array([[0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.6, 0.4]])
    change, rows, columns = forest_correction(A, np.ones(3), np.ones(3))
    filled = (A + change).toarray()
    np.testing.assert_allclose(filled.sum(axis=1) + rows, 1.0)
    np.testing.assert_allclose(filled.sum(axis=0) + columns, 1.0)
    assert rows.sum() == pytest.approx(1.0)
    assert columns.sum() == pytest.approx(1.0)
    assert rows[2] == columns[0] == 0
    assert np.all(filled >= 0)


def test_rows_and_columns_without_entries_miss_all_they_need():
    A = sparse.csr_array([[1.0, 0.0], [0.0, 0.0]])
    change, rows, columns = forest_correction(A, np.array([1.0, 0.3]), np.array([1.0, 0.3]))
    assert change.count_nonzero() == 0
    np.testing.assert_array_equal(rows, [0.0, 0.3])
    np.testing.assert_array_equal(columns, [0.0, 0.3])


def test_a_change_that_would_make_an_entry_negative_is_refused():
    A = sparse.csr_array([[0.1, 0.9], [0.0, 0.8]])
    assert forest_correction(A, np.array([1.0, 1.0]), np.array([1.5, 0.5])) is None


def test_what_is_missing_may_be_below_the_rounding_of_sums(rng):
    block = rng.dirichlet(np.ones(3))
    A = sparse.csr_array([np.roll(block, k) for k in range(3)])
    change, *_ = forest_correction(A, np.ones(3), np.ones(3))
    exact = A.toarray().astype(np.longdouble) + change.toarray()
    for axis in (0, 1):
        assert np.abs(exact.sum(axis=axis) - 1).max() <= 1e-18
