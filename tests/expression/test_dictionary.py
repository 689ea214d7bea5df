import numpy as np
import pytest
from scipy import sparse

from dssc.expression import dictionary
from dssc.expression.dictionary import Dictionary


@pytest.mark.parametrize("precise", [False, True])
def test_a_search_bounds_what_it_leaves_out(precise, rng):
    samples = Dictionary(rng.standard_normal((200, 15)))
    own = rng.choice(200, 30, replace=False)
    residuals = rng.standard_normal((30, 15))
    stored = np.arange(31) * 2, rng.choice(200, (30, 2)).astype(np.int32)
    places, bounds = samples.search(
        residuals, own, 12, stored=(stored[0], stored[1].ravel()), precise=precise
    )
    products = np.abs(residuals @ samples.X.T)
    for i in range(30):
        passed_over = {own[i], *stored[1][i]}
        assert not passed_over & set(places[i])
        left_out = [j for j in range(200) if j not in {*places[i], *passed_over}]
        assert products[i, left_out].max() <= bounds[i]
        assert products[i, left_out].max() <= products[i, places[i]].min() + 1e-5


def test_a_search_for_more_than_there_is_leaves_nothing_out(rng):
    samples = Dictionary(rng.standard_normal((6, 3)))
    places, bounds = samples.search(samples.X, np.arange(6), 9)
    for i in range(6):
        assert sorted(places[i]) == [-1] * 4 + [j for j in range(6) if j != i]
    assert np.all(bounds == -np.inf)


def test_relative_residuals_agree_with_numpy(rng, monkeypatch):
    X = rng.standard_normal((30, 6))
    X[4] = 0.0
    C = sparse.random_array((30, 30), density=0.2, random_state=rng, format="csr")
    norms = np.where(X.any(axis=1), np.linalg.norm(X, axis=1), np.inf)
    expected = np.linalg.norm(X - C @ X, axis=1) / norms
    np.testing.assert_allclose(Dictionary(100 * X).relative_residuals(C), expected, rtol=1e-12)
    monkeypatch.setattr(dictionary, "TILE", 30 * 7)
    np.testing.assert_allclose(Dictionary(X).relative_residuals(C), expected, rtol=1e-12)
