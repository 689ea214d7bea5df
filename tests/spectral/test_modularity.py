import numpy as np
import pytest
from scipy import sparse

from dssc.spectral.modularity import modularity


def test_modularity_is_the_excess_over_chance(rng):
    W, labels = rng.random((30, 30)), rng.integers(0, 4, 30)
    W += W.T
    degrees, total = W.sum(axis=1), W.sum()
    expected = sum(
        W[i, j] / total - degrees[i] * degrees[j] / total**2
        for i in range(30)
        for j in range(30)
        if labels[i] == labels[j]
    )
    assert modularity(sparse.csr_array(W), labels) == pytest.approx(expected)
    assert modularity(sparse.csr_array(W), np.zeros(30, dtype=int)) == pytest.approx(0.0)
