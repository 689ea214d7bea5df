import numpy as np
import pytest
from scipy import sparse

from dssc import missed_similarity
from dssc.approximate_graphs import mean_bound
from dssc.expression import least_squares_representation


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def neighbours(K, count):
    np.fill_diagonal(K, -1.0)
    return np.argsort(-K, axis=1)[:, :count]


def graph_of(neighbors):
    n, count = neighbors.shape
    rows = np.repeat(np.arange(n), count)
    return sparse.csr_array((np.ones(n * count), (rows, neighbors.ravel())), shape=(n, n))


@pytest.mark.parametrize("eta1", [np.inf, 0.5])
def test_the_exact_graph_misses_nothing_and_half_of_it_what_it_should(eta1, rng):
    X = rng.standard_normal((90, 20))
    K = np.abs(unit(X) @ unit(X).T)
    if eta1 < np.inf:
        C = np.abs(least_squares_representation(unit(X), eta1))
        K = (C + C.T) / 2
    nearest = neighbours(K, 6)
    exact = missed_similarity(X, graph_of(nearest), 6, eta1=eta1)
    assert exact.mean == 0
    assert not exact.shares.any()
    some = nearest[:, ::2]
    found = missed_similarity(X, graph_of(some), 6, eta1=eta1, n_rows=30)
    both = graph_of(some).toarray() + graph_of(some).toarray().T > 0
    for row, share in zip(found.rows, found.shares, strict=True):
        values = K[row, nearest[row]]
        expected = values[~both[row, nearest[row]]].sum() / values.sum()
        np.testing.assert_allclose(share, expected, rtol=1e-5)


def test_an_empty_graph_misses_everything(rng):
    found = missed_similarity(rng.standard_normal((50, 5)), sparse.csr_array((50, 50)))
    np.testing.assert_allclose(found.shares, 1.0)
    assert found.bound == 1.0


def test_the_bound_holds_as_often_as_it_says(rng):
    """Two values are the hardest case: 5 % of the numbers are one."""
    n_wrong = sum(mean_bound((rng.random(200) < 0.05) * 1.0, 0.9) < 0.05 for _ in range(2000))
    assert n_wrong <= 0.1 * 2000


def test_more_rows_give_a_closer_bound(rng):
    X = rng.standard_normal((300, 8))
    graph = graph_of(neighbours(np.abs(unit(X) @ unit(X).T), 12)[:, :10])
    few, many = (missed_similarity(X, graph, n_rows=n) for n in (50, 2000))
    assert many.bound - many.mean < few.bound - few.mean


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_rows": 1}, "n_rows=1 must be at least 2"),
        ({"confidence": 1.0}, "confidence=1.0 between 0 and 1"),
        ({"n_neighbors": 0}, "n_neighbors=0"),
    ],
)
def test_bad_parameters_are_refused(parameters, message, rng):
    with pytest.raises(ValueError, match=message):
        missed_similarity(rng.standard_normal((9, 3)), sparse.eye_array(9), **parameters)


def test_a_graph_of_other_points_is_refused(rng):
    with pytest.raises(ValueError, match=r"graph has shape \(8, 8\); X has 9 rows"):
        missed_similarity(rng.standard_normal((9, 3)), sparse.eye_array(8))
