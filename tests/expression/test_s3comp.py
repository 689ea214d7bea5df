import numpy as np
import pytest
from scipy import sparse

from dssc import (
    make_union_of_subspaces,
    omp_representation,
    s3comp_representation,
    subspace_preserving_error,
)
from dssc.expression.s3comp import draw_samples
from tests.expression.test_omp import damped_by_hand


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(150, noise=0.05, random_state=0)


def consensus_of(X, n_nonzero_coefs, **options):
    return s3comp_representation(X, n_nonzero_coefs, **options).representation


def test_without_dropout_and_consensus_it_is_one_pursuit(data):
    X, _ = data
    B = consensus_of(X, 3, n_subproblems=4, dropout=0.0, n_rounds=0, random_state=0)
    assert isinstance(B, sparse.csr_array)
    expected = omp_representation(X, 3).representation.toarray()
    np.testing.assert_allclose(B.toarray(), expected, atol=1e-14)


def test_dropout_connects_more_of_the_right_points(data):
    X, y = data
    plain = omp_representation(X, 3).representation
    B = consensus_of(X, 3, random_state=0)
    assert B.nnz > 3 * plain.nnz
    assert subspace_preserving_error(B, y) < 0.05
    assert not B.diagonal().any()


def test_consensus_draws_the_subproblems_together(data):
    X, _ = data
    options = {"n_subproblems": 5, "dropout": 0.5, "random_state": 0}
    free = consensus_of(X, 3, n_rounds=0, **options)
    drawn = consensus_of(X, 3, n_rounds=3, damping=5.0, **options)
    assert drawn.nnz < free.nnz


def test_turns_are_those_of_dropout_with_longer_atoms(data):
    """Dropout after Chen et al. makes the atoms that are left longer, by 1 / (1 - dropout)."""
    X, n, weight, dropout = data[0][::3], 50, 0.8, 0.4
    rng = np.random.RandomState(7)
    sets = [draw_samples(n, dropout, rng) for _ in range(3)]
    consensus = np.zeros((n, n))
    for damping in (0.0, weight, weight):
        total = np.zeros((n, n))
        for kept in sets:
            atoms = X[kept] / (1 - dropout)
            for i in range(n):
                prior, own = consensus[i, kept], np.flatnonzero(kept == i)
                total[i, kept] += damped_by_hand(atoms, X[i], own, 3, damping, prior)
        consensus = total / 3
    B = consensus_of(
        X,
        3,
        n_subproblems=3,
        dropout=dropout,
        damping=weight * (1 - dropout) ** 2,
        n_rounds=2,
        random_state=7,
    )
    np.testing.assert_allclose(B.toarray(), consensus / (1 - dropout), atol=1e-10)


@pytest.mark.parametrize("seed", range(3))
def test_repeatable_for_a_seed(seed, data):
    one, two = (consensus_of(data[0], 2, n_subproblems=3, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(one.toarray(), two.toarray())
    other = consensus_of(data[0], 2, n_subproblems=3, random_state=seed + 1)
    assert (one != other).nnz > 0


def test_damping_follows_the_scale_of_the_data(data):
    X, _ = data
    options = {"n_subproblems": 4, "random_state": 0}
    B = consensus_of(X, 3, damping=0.1, **options).toarray()
    scaled = consensus_of(30 * X, 3, damping=90.0, **options).toarray()
    np.testing.assert_allclose(scaled, B, atol=1e-12)


def test_few_samples_and_single_precision(rng):
    X = rng.standard_normal((3, 4)).astype(np.float32)
    B = consensus_of(X, 2, dropout=0.9, random_state=0)
    assert B.dtype == np.float32
    assert B.shape == (3, 3)


def test_the_result_holds_the_residual_of_the_consensus(data):
    X, _ = data
    result = s3comp_representation(X, 3, n_subproblems=4, n_rounds=2, random_state=0)
    errors = np.linalg.norm(X - result.representation @ X, axis=1)
    expected = errors / np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(result.residuals, expected, atol=1e-12)
    np.testing.assert_array_equal(result.n_iter, np.full(150, 3))
    assert result.violations is None
    assert result.converged


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropout": 1.0}, r"dropout=1\.0 must be at least 0 and less than 1"),
        ({"dropout": np.nan}, "dropout=nan"),
        ({"n_subproblems": 0}, "n_subproblems=0"),
        ({"damping": 0.0}, r"damping=0\.0"),
        ({"n_rounds": -1}, "n_rounds=-1"),
    ],
)
def test_bad_parameters_are_explained(options, message):
    with pytest.raises(ValueError, match=message):
        s3comp_representation(np.eye(4), 2, **options)
