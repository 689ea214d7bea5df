import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from dssc.agreement import common_points, rand_index


@pytest.mark.parametrize("n_clusters", [1, 2, 7, 60])
def test_the_rand_index_is_that_of_scikit_learn(n_clusters, rng):
    for _ in range(20):
        one, two = rng.integers(0, n_clusters, (2, 60)).astype(np.int32)
        assert rand_index(one, two, n_clusters) == adjusted_rand_score(one, two)
        assert rand_index(one, one, n_clusters) == 1.0


def test_common_points_are_counted(rng):
    one, two = rng.integers(0, 3, (2, 50)).astype(np.int32)
    np.testing.assert_array_equal(common_points(one, two, 3), contingency_matrix(one, two))
