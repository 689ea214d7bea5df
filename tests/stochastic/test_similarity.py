import numpy as np
import pytest
from scipy import sparse

from dssc._progress import Progress
from dssc.stochastic import ProjectionProblem
from dssc.stochastic.similarity import SparseSimilarity
from tests.stochastic.brute_force import diagonal, missing_places, places

QUIET = Progress()


@pytest.mark.parametrize("symmetric", [True, False])
def test_missing_finds_every_negative_sum(symmetric, rng):
    K = sparse.random_array((80, 80), density=0.1, random_state=rng, format="csr")
    K = sparse.csr_array(K + K.T) if symmetric else K
    similarity = ProjectionProblem.of_matrix(K).similarity
    assert isinstance(similarity, SparseSimilarity)
    assert similarity.symmetric == symmetric
    support = similarity.first_support(1.0, diagonal(similarity.shape[0]), QUIET)
    alpha = 0.3 + rng.standard_normal(80)
    beta = alpha if symmetric else 0.3 + rng.standard_normal(80)
    missing = similarity.missing(support, (alpha, beta), 1.0, QUIET)
    assert places(missing, symmetric) == missing_places(K.toarray(), support, alpha, beta)


def test_supports_hold_the_diagonal_and_grow_with_values_zero_included(rng):
    K = sparse.random_array((30, 30), density=0.05, random_state=rng, format="csr")
    similarity = SparseSimilarity(K, symmetric=False)
    support = similarity.first_support(1.0, diagonal(similarity.shape[0]), QUIET)
    for i in range(30):
        assert i in support.matrix.indices[support.matrix.indptr[i] : support.matrix.indptr[i + 1]]
    missing = similarity.missing(support, (np.full(30, -1.0), np.full(30, 0.5)), 1.0, QUIET)
    grown = support.extended(missing.rows, missing.columns, missing.values)
    assert grown.matrix.nnz == 30 * 30
    np.testing.assert_array_equal(grown.matrix.toarray(), K.toarray())


def test_largest_entries_are_those_of_the_rows(rng):
    K = rng.standard_normal((20, 20)) * (rng.random((20, 20)) < 0.3)
    expected = np.sort(K, axis=1)[:, ::-1][:, :5]
    similarity = SparseSimilarity(sparse.csr_array(K), False)
    np.testing.assert_array_equal(similarity.largest_entries(5, QUIET), expected)
