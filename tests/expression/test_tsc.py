import numpy as np
import pytest
from scipy import sparse

from dssc import make_union_of_subspaces, thresholded_similarity, unit_norm
from dssc.expression import dictionary


def by_definition(X, q):
    cosines = np.abs(X @ X.T)
    np.fill_diagonal(cosines, -1.0)
    C = np.zeros_like(cosines)
    for i, row in enumerate(cosines):
        nearest = np.argsort(-row, kind="stable")[:q]
        C[i, nearest] = np.exp(-2 * np.arccos(np.minimum(row[nearest], 1.0)))
    return C


@pytest.mark.parametrize(("n", "d"), [(2, 3), (50, 8), (200, 30)])
@pytest.mark.parametrize("q", [1, 4, 15])
def test_agrees_with_the_definition(n, d, q, rng):
    X = unit_norm(rng.standard_normal((n, d)))
    C = thresholded_similarity(X, q).representation
    assert isinstance(C, sparse.csr_array)
    np.testing.assert_allclose(C.toarray(), by_definition(X, min(q, n - 1)), atol=1e-12)


def test_neighbours_too_close_for_single_precision(rng):
    direction = unit_norm(rng.standard_normal((1, 30)))
    X = unit_norm(direction + 1e-5 * rng.standard_normal((60, 30)))
    C = thresholded_similarity(X, 5).representation
    cosines = np.abs(X @ X.T) - 2 * np.eye(60)
    smallest = np.sort(cosines, axis=1)[:, -5]
    rows = np.repeat(np.arange(60), 5)
    assert np.all(cosines[rows, C.indices] >= smallest[rows] - 1e-15)


def test_tiles_change_nothing(monkeypatch):
    X = unit_norm(make_union_of_subspaces(100, random_state=0)[0])
    expected = thresholded_similarity(X, 4).representation.toarray()
    monkeypatch.setattr(dictionary, "TILE", 100 * 9)
    tiled = thresholded_similarity(X, 4).representation.toarray()
    np.testing.assert_array_equal(tiled, expected)


def test_single_precision_and_sparse_rows(rng):
    X = unit_norm(rng.standard_normal((40, 10)))
    assert thresholded_similarity(X.astype(np.float32), 3).representation.dtype == np.float32
    np.testing.assert_array_equal(
        thresholded_similarity(sparse.csr_array(X), 3).representation.toarray(),
        thresholded_similarity(X, 3).representation.toarray(),
    )


def test_the_result_has_no_certificate_of_a_reconstruction(rng):
    result = thresholded_similarity(unit_norm(rng.standard_normal((20, 5))), 4)
    assert result.violations is None
    assert result.residuals is None
    assert result.converged
    assert "4 nearest" in result.status
    np.testing.assert_array_equal(result.n_iter, np.ones(20))


def test_bad_parameters_are_explained():
    with pytest.raises(ValueError, match="n_neighbors=0 must be an integer of at least 1"):
        thresholded_similarity(np.eye(3), 0)
