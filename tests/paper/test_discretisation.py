import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.cluster import SpectralClustering

from dssc import clustering_accuracy, spectral_embedding
from dssc.paper.discretisation import discretised_labels


@pytest.mark.parametrize("seed", range(5))
def test_rotated_indicators_are_found(seed):
    y = np.repeat(np.arange(4), (3, 5, 7, 9))
    rows = np.eye(4)[y] @ ortho_group.rvs(4, random_state=seed)
    labels = discretised_labels(rows, np.random.RandomState(seed))
    assert clustering_accuracy(y, labels) == 1.0


def test_labels_are_as_good_as_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(5), 30)
    A = rng.uniform(size=(150, 150)) + 0.3 * (y[:, None] == y) * rng.uniform(size=(150, 150))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 0)
    U = spectral_embedding(A, 5, random_state=0)
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    ours = [
        clustering_accuracy(y, discretised_labels(rows, np.random.RandomState(seed)))
        for seed in range(5)
    ]
    theirs = [
        clustering_accuracy(
            y,
            SpectralClustering(
                5, affinity="precomputed", assign_labels="discretize", random_state=seed
            ).fit_predict(A),
        )
        for seed in range(5)
    ]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), abs=0.03)
    assert 0.5 < np.mean(ours) < 1
