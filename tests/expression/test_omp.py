import numba
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import OrthogonalMatchingPursuit, orthogonal_mp

from dssc import make_union_of_subspaces, omp_representation, unit_norm
from dssc.expression import dictionary
from dssc.expression.dictionary import Dictionary
from dssc.expression.omp import pursue_all


def by_scikit_learn(X, k):
    n = len(X)
    C = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        model = OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False, precompute=False)
        C[i, others] = model.fit(X[others].T, X[i]).coef_
    return C


@pytest.mark.parametrize(("n", "d"), [(60, 20), (15, 40), (40, 12)])
@pytest.mark.parametrize("k", [1, 3, 8])
def test_agrees_with_scikit_learn_row_by_row(n, d, k, rng):
    X = unit_norm(rng.standard_normal((n, d)))
    C = omp_representation(X, k).representation
    assert isinstance(C, sparse.csr_array)
    np.testing.assert_allclose(C.toarray(), by_scikit_learn(X, k), atol=1e-10)


def test_samples_of_any_length_are_chosen_by_their_product(rng):
    X = rng.standard_normal((30, 10)) * np.exp(rng.standard_normal((30, 1)))
    targets = [orthogonal_mp(np.delete(X, i, 0).T, X[i], n_nonzero_coefs=1) for i in range(30)]
    # scikit-learn scales nothing here, and with one atom neither side has anything to refine.
    expected = [np.insert(c, i, 0.0) for i, c in enumerate(targets)]
    np.testing.assert_allclose(
        omp_representation(X, 1).representation.toarray(), expected, atol=1e-10
    )


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_the_scale_of_the_data_does_not_matter(scale, rng):
    X = rng.standard_normal((30, 10))
    expected = omp_representation(X, 4).representation.toarray()
    scaled = omp_representation(scale * X, 4).representation.toarray()
    np.testing.assert_allclose(scaled, expected, atol=1e-10)


def test_near_ties_are_settled_in_double_precision(rng):
    # Products that single precision cannot tell apart: the larger one is the second.
    x = unit_norm(rng.standard_normal((1, 50)))[0]
    aside = rng.standard_normal((2, 50))
    aside -= np.outer(aside @ x, x)
    aside = unit_norm(aside)
    cosines = np.array([0.9, 0.9 + 1e-12])
    atoms = cosines[:, None] * x + np.sqrt(1 - cosines**2)[:, None] * aside
    C = omp_representation(np.vstack([x, atoms]), 1).representation
    assert C[[0]].indices.tolist() == [2]


def test_a_row_ends_when_its_residual_does(rng):
    basis = np.linalg.qr(rng.standard_normal((12, 2)))[0].T
    X = unit_norm(rng.standard_normal((20, 2)) @ basis)
    C = omp_representation(X, 10).representation
    assert np.diff(C.indptr).max() == 2
    np.testing.assert_allclose(C @ X, X, atol=1e-12)


def test_duplicates_and_orthogonal_samples(rng):
    X = np.repeat(np.eye(4), 2, axis=0)
    np.testing.assert_array_equal(
        omp_representation(X, 5).representation.toarray(),
        np.kron(np.eye(4), np.array([[0, 1], [1, 0]])),
    )
    assert omp_representation(np.eye(4), 3).representation.nnz == 0


def test_the_residual_is_orthogonal_to_the_support():
    X, _ = make_union_of_subspaces(120, noise=0.3, random_state=0)
    C = omp_representation(X, 6).representation
    assert not C.diagonal().any()
    residuals = X - C @ X
    for i in range(120):
        assert np.abs(X[C[[i]].indices] @ residuals[i]).max() < 1e-12


def test_tiles_and_threads_change_nothing(thread_counts, monkeypatch):
    one, two = thread_counts
    X, _ = make_union_of_subspaces(100, noise=0.3, random_state=1)
    numba.set_num_threads(two)
    expected = omp_representation(X, 5).representation.toarray()
    monkeypatch.setattr(dictionary, "TILE", 100 * 7)
    numba.set_num_threads(one)
    tiled = omp_representation(X, 5).representation.toarray()
    np.testing.assert_allclose(tiled, expected, atol=1e-13)


def test_single_precision_and_sparse_rows():
    X, _ = make_union_of_subspaces(50, noise=0.1, random_state=0)
    expected = omp_representation(X, 3).representation
    single = omp_representation(X.astype(np.float32), 3).representation
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.toarray(), expected.toarray(), atol=1e-4)
    from_sparse = omp_representation(sparse.csr_array(X), 3).representation
    np.testing.assert_array_equal(from_sparse.toarray(), expected.toarray())


def test_the_result_holds_the_residual_of_every_row(rng):
    X = 5.0 * rng.standard_normal((40, 12))
    X[7] = 0.0
    result = omp_representation(X, 3)
    C = result.representation
    norms = np.where(X.any(axis=1), np.linalg.norm(X, axis=1), np.inf)
    expected = np.linalg.norm(X - C @ X, axis=1) / norms
    np.testing.assert_allclose(result.residuals, expected, atol=1e-12)
    np.testing.assert_array_equal(result.n_iter, np.diff(C.indptr))
    assert result.violations is None
    assert result.converged
    assert f"{expected.max():.1e}" in result.status


def damped_by_hand(D, x, banned, k, damping, b):
    """Pursue one sample with dense least squares, as the problem says."""
    support: list[int] = []
    c = np.zeros(len(D))
    for _ in range(k):
        gain = np.abs(D @ (x - c @ D) + damping * b)
        gain[[*support, *banned]] = -1
        support.append(int(gain.argmax()))
        A = D[support]
        c[:] = 0.0
        c[support] = np.linalg.solve(
            A @ A.T + damping * np.eye(len(support)), A @ x + damping * b[support]
        )
    return c


def test_damped_pursuit_minimises_with_the_prior(rng):
    X = unit_norm(rng.standard_normal((40, 15)))
    kept = np.arange(5, 30)
    own = np.full(40, -1)
    own[kept] = np.arange(25)
    prior = sparse.random_array((40, 25), density=0.2, random_state=rng, format="csr")
    C = pursue_all(Dictionary(X[kept]), X, own, 4, 1e-6, damping=0.7, prior=prior).toarray()
    for i in range(40):
        banned = [own[i]] if own[i] >= 0 else []
        expected = damped_by_hand(X[kept], X[i], banned, 4, 0.7, prior.toarray()[i])
        np.testing.assert_allclose(C[i], expected, atol=1e-10)


@pytest.mark.parametrize(
    ("k", "tol", "message"),
    [
        (0, 1e-6, "n_nonzero_coefs=0 must be an integer of at least 1"),
        (2.5, 1e-6, r"n_nonzero_coefs=2\.5"),
        (2, 0.0, r"tol=0\.0 must be a positive finite number"),
    ],
)
def test_bad_parameters_are_explained(k, tol, message):
    with pytest.raises(ValueError, match=message):
        omp_representation(np.eye(3), k, tol=tol)
