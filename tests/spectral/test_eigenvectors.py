import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from dssc import spectral_embedding
from dssc.spectral import eigenvectors
from tests.spectral.inputs import ring, span


def test_large_graphs_are_filtered_until_they_are_resolved(monkeypatch):
    expected = span(spectral_embedding(ring(900), 7, random_state=0))
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", 500)
    monkeypatch.setattr(eigenvectors, "_factored", None)
    filtered = span(spectral_embedding(ring(900), 7, random_state=0))
    np.testing.assert_allclose(filtered, expected, atol=1e-4)


def test_a_large_residual_is_reported(monkeypatch):
    monkeypatch.setattr(eigenvectors, "FACTORED_SIZE", 500)
    monkeypatch.setattr(eigenvectors, "MAX_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match=r"residual of .* Raise eta2") as record:
        spectral_embedding(ring(5000), 7, random_state=0)
    assert record[0].filename == __file__


def test_two_points_joined_to_each_other_only():
    U = spectral_embedding(np.array([[0.0, 1.0], [1.0, 0.0]]), 2)
    np.testing.assert_allclose(np.abs(U), np.sqrt(0.5))
    np.testing.assert_allclose(U.T @ U, np.eye(2), atol=1e-12)
