import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from dssc.report.distinctive import FEATURES_SHOWN, distinctive_features

NAMES = [f"f{j}" for j in range(8)]


@given(st.integers(0, 1000))
def test_it_is_the_difference_of_means_in_standard_deviations(seed):
    rng = np.random.default_rng(seed)
    X, labels = rng.normal(size=(40, 8)), rng.integers(0, 3, 40)
    for cluster, features in enumerate(distinctive_features(X, NAMES, labels, 3)):
        inside = labels == cluster
        expected = (X[inside].mean(axis=0) - X[~inside].mean(axis=0)) / X.std(axis=0)
        order = np.argsort(-np.abs(expected))[:FEATURES_SHOWN]
        assert [f.name for f in features] == [NAMES[j] for j in order if abs(expected[j]) >= 0.1]
        for feature in features:
            j = NAMES.index(feature.name)
            assert feature.difference == pytest.approx(expected[j])
            assert feature.inside == pytest.approx(X[inside, j].mean())


def test_sparse_tables_give_the_same(rng):
    X = sparse.random_array((50, 8), density=0.4, random_state=rng, format="csr")
    labels = np.arange(50) % 3
    dense = distinctive_features(X.toarray(), NAMES, labels, 3)
    for one, other in zip(distinctive_features(X, NAMES, labels, 3), dense, strict=True):
        assert [f.name for f in one] == [f.name for f in other]
        np.testing.assert_allclose([f[1:] for f in one], [f[1:] for f in other])


def test_constant_features_and_single_clusters_say_nothing():
    X = np.full((10, 2), 0.1)
    assert distinctive_features(X, NAMES, np.arange(10) % 2, 2) == [[], []]
    X[:, 0] = np.arange(10)
    assert distinctive_features(X, NAMES, np.zeros(10, dtype=int), 1) == [[]]
