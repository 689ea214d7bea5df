import hypothesis
import numba
import numpy as np
import pytest
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso

from dssc import elastic_net_representation, make_union_of_subspaces, unit_norm
from dssc.expression import dictionary, elastic_net


def violations(X, C, eta1, eta3):
    """Recompute every optimality condition densely."""
    products = (X - C @ X) @ X.T
    on_support = np.abs(products - eta1 * C - eta3 * np.sign(C))
    off_support = np.maximum(np.abs(products) - eta3, 0.0)
    every = np.where(C != 0, on_support, off_support)
    np.fill_diagonal(every, 0.0)
    return every.max(axis=1)


def objective(X, C, eta1, eta3):
    return 0.5 * np.sum((X - C @ X) ** 2) + eta1 / 2 * np.sum(C**2) + eta3 * np.sum(np.abs(C))


def certify(X, result, eta1, eta3, tol=1e-8):
    C = result.representation.toarray()
    assert not np.diag(C).any()
    recomputed = violations(X, C, eta1, eta3)
    assert recomputed.max() <= tol
    assert np.all(recomputed <= result.violations + 1e-13)
    errors = np.linalg.norm(X - C @ X, axis=1) / np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(result.residuals, errors, atol=1e-12)
    assert result.converged
    return C


def points(kind, n, d, seed):
    rng = np.random.default_rng(seed)
    if kind == "random":
        X = rng.standard_normal((n, d))
    elif kind == "alike":
        X = np.ones(d) + 0.05 * rng.standard_normal((n, d))
    elif kind == "duplicates":
        X = np.repeat(rng.standard_normal(((n + 3) // 4, d)), 4, axis=0)[:n]
    elif kind == "opposite":
        half = rng.standard_normal(((n + 1) // 2, d))
        X = np.vstack([half, -half])[:n]
    elif kind == "low rank":
        X = rng.standard_normal((n, 2)) @ rng.standard_normal((2, d))
    else:
        X = np.eye(n, d) + 1e-3 * rng.standard_normal((n, d))
    return unit_norm(X)


KINDS = ["random", "alike", "duplicates", "opposite", "low rank", "orthogonal"]


@hypothesis.given(
    st.sampled_from(KINDS),
    st.integers(2, 90),
    st.integers(1, 30),
    st.sampled_from([0.0, 1e-6, 0.01, 1.0, 30.0]),
    st.sampled_from([1e-4, 0.01, 0.1, 0.7, 2.0]),
    st.integers(0, 5),
)
def test_conditions_hold_whatever_the_data(kind, n, d, eta1, eta3, seed):
    X = points(kind, n, d, seed)
    certify(X, elastic_net_representation(X, eta1, eta3), eta1, eta3)


@pytest.mark.parametrize(("eta1", "eta3"), [(0.1, 0.1), (0.01, 0.05), (1.0, 0.02), (5.0, 0.3)])
def test_agrees_with_scikit_learn_row_by_row(eta1, eta3):
    X, _ = make_union_of_subspaces(80, noise=0.2, random_state=0)
    X = unit_norm(X)
    n, d = X.shape
    C = elastic_net_representation(X, eta1, eta3).representation.toarray()
    model = ElasticNet(
        alpha=(eta1 + eta3) / d,
        l1_ratio=eta3 / (eta1 + eta3),
        fit_intercept=False,
        tol=1e-12,
        max_iter=100_000,
    )
    for i in range(n):
        others = np.delete(np.arange(n), i)
        np.testing.assert_allclose(C[i, others], model.fit(X[others].T, X[i]).coef_, atol=1e-6)


def test_the_lasso_agrees_with_scikit_learn():
    X = points("random", 60, 20, 0)
    C = elastic_net_representation(X, 0.0, 0.1).representation.toarray()
    model = Lasso(alpha=0.1 / 20, fit_intercept=False, tol=1e-12, max_iter=100_000)
    for i in range(60):
        others = np.delete(np.arange(60), i)
        np.testing.assert_allclose(C[i, others], model.fit(X[others].T, X[i]).coef_, atol=1e-6)


def test_duplicates_share_the_lasso_weight_evenly(rng):
    X = unit_norm(np.repeat(rng.standard_normal((10, 6)), 3, axis=0))
    C = certify(X, elastic_net_representation(X, 0.0, 0.2), 0.0, 0.2)
    # Rows 0 to 2 are one point: each is expressed by the two others, in parts that the ridge of
    # 1e-11 in place of eta1 makes equal up to eps / ridge.
    assert C[0, [1, 2]].sum() == pytest.approx(1 - 0.2, abs=1e-9)
    np.testing.assert_allclose(C[0, 1], C[0, 2], atol=1e-4)


@pytest.mark.parametrize("capacity", [1, 10, 128])
def test_many_active_samples_outgrow_the_first_capacity(capacity, rng, monkeypatch):
    monkeypatch.setattr(elastic_net, "FIRST_CAPACITY", capacity)
    X = unit_norm(np.ones(40) + 0.3 * rng.standard_normal((300, 40)))
    result = elastic_net_representation(X, 20.0, 1e-3)
    C = certify(X, result, 20.0, 1e-3)
    assert np.count_nonzero(C, axis=1).max() > 256
    sparser = elastic_net_representation(X, 0.1, 0.05)
    certify(X, sparser, 0.1, 0.05)
    for C in (result.representation, sparser.representation):
        row, column = C.nonzero()
        assert len(np.unique(row * 300 + column)) == C.nnz


def test_rows_beyond_the_smallest_zeroing_penalty_are_zero(rng):
    X = points("random", 50, 10, 0)
    gram = np.abs(X @ X.T) - np.eye(50)
    result = elastic_net_representation(X, 0.1, float(gram.max()))
    assert result.representation.nnz == 0
    largest = np.unravel_index(gram.argmax(), gram.shape)
    just_below = elastic_net_representation(X, 0.1, 0.9999 * float(gram.max())).representation
    assert just_below.toarray()[largest] != 0
    assert just_below.nnz == 2


def test_tiles_change_nothing(monkeypatch):
    X, _ = make_union_of_subspaces(150, noise=0.3, random_state=1)
    whole = elastic_net_representation(X, 0.01, 0.02).representation
    monkeypatch.setattr(dictionary, "TILE", 150 * 7)
    tiled = elastic_net_representation(X, 0.01, 0.02).representation
    np.testing.assert_allclose(whole.toarray(), tiled.toarray(), atol=1e-12)


def test_one_thread_and_two_give_the_same(thread_counts):
    X, _ = make_union_of_subspaces(150, noise=0.3, random_state=1)
    results = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        results.append(elastic_net_representation(X, 0.01, 0.02).representation.toarray())
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("kind", KINDS)
def test_order_of_samples_does_not_matter(kind, rng):
    X = points(kind, 60, 10, 2)
    order = rng.permutation(60)
    C = elastic_net_representation(X, 0.01, 0.05).representation.toarray()
    permuted = elastic_net_representation(X[order], 0.01, 0.05).representation.toarray()
    np.testing.assert_allclose(permuted, C[np.ix_(order, order)], atol=1e-9)


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1e3, 1e30])
def test_scaling_the_data_scales_the_penalties(scale):
    X, _ = make_union_of_subspaces(80, noise=0.2, random_state=0)
    C = elastic_net_representation(X, 0.1, 0.1).representation
    scaled = elastic_net_representation(X * scale, 0.1 * scale**2, 0.1 * scale**2).representation
    np.testing.assert_allclose(scaled.toarray(), C.toarray(), atol=1e-10)


def test_single_precision_and_sparse_rows(rng):
    X = unit_norm(
        rng.standard_normal((60, 20)) * (rng.random((60, 20)) < 0.3) + 0.1 * np.eye(60, 20)
    )
    expected = elastic_net_representation(X, 0.1, 0.1).representation
    assert isinstance(expected, sparse.csr_array)
    from_sparse = elastic_net_representation(sparse.csr_array(X), 0.1, 0.1).representation
    np.testing.assert_array_equal(from_sparse.toarray(), expected.toarray())
    single = elastic_net_representation(X.astype(np.float32), 0.1, 0.1).representation
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.toarray(), expected.toarray(), atol=1e-5)


def test_an_unfinished_row_is_reported_with_its_bound():
    X, _ = make_union_of_subspaces(600, n_subspaces=2, dimension=10, noise=0.5, random_state=0)
    X = unit_norm(X)
    result = elastic_net_representation(X, 0.0, 0.01, max_iter=1)
    assert not result.converged
    assert "max_iter=1" in result.status
    assert "raise" in result.status
    recomputed = violations(X, result.representation.toarray(), 0.0, 0.01)
    assert np.all(recomputed <= result.violations + 1e-13)
    certify(X, elastic_net_representation(X, 0.0, 0.01), 0.0, 0.01)


def test_the_minimum_is_below_every_nearby_point(rng):
    X = points("alike", 40, 10, 0)
    C = elastic_net_representation(X, 0.05, 0.02).representation.toarray()
    least = objective(X, C, 0.05, 0.02)
    for size in (1e-1, 1e-3, 1e-5):
        nearby = C + size * rng.standard_normal(C.shape) * (rng.random(C.shape) < 0.1)
        np.fill_diagonal(nearby, 0.0)
        assert objective(X, nearby, 0.05, 0.02) > least


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta1": -1.0}, r"eta1=-1\.0 must be a positive finite number"),
        ({"eta1": np.nan}, "eta1=nan"),
        ({"eta3": 0.0}, r"eta3=0\.0 must be a positive finite number"),
        ({"tol": 0.0}, r"tol=0\.0"),
        ({"max_iter": 0}, "max_iter=0 must be an integer of at least 1"),
    ],
)
def test_bad_parameters_are_explained(options, message):
    with pytest.raises(ValueError, match=message):
        elastic_net_representation(np.eye(3), **{"eta1": 0.1, "eta3": 0.1, **options})


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match=r"X holds NaN.*remove"):
        elastic_net_representation(np.array([[1.0, np.nan], [1.0, 0.0]]), 0.1, 0.1)


def test_integers_give_float_coefficients(rng):
    X = rng.integers(-3, 4, (20, 5))
    C = elastic_net_representation(X, 1.0, 1.0).representation
    expected = elastic_net_representation(X.astype(float), 1.0, 1.0).representation
    np.testing.assert_array_equal(C.toarray(), expected.toarray())
