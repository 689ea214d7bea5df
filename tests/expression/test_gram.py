import numpy as np
import pytest

from dssc.expression import gram, regularised_gram
from dssc.subspaces import unit_rows


@pytest.mark.parametrize("block", [7, 2048])
def test_the_gram_matrix_of_unit_rows(block, rng, monkeypatch):
    monkeypatch.setattr(gram, "BLOCK", block)
    X = rng.standard_normal((50, 6))
    done = []
    G = regularised_gram(X, 0.3, unit_rows, done.append)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(G, unit.T @ unit + 0.3 * np.eye(6), atol=1e-14)
    assert sum(done) == 50
    np.testing.assert_array_equal(regularised_gram(X, 0.3, unit_rows), G)
