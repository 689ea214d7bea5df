import pickle

import numpy as np
import pytest
from scipy import optimize, sparse

from dssc import (
    ADSSC,
    clustering_accuracy,
    least_squares_representation,
    make_union_of_subspaces,
    unit_norm,
)
from dssc.expression import NewPointExpression, new_points
from dssc.stochastic import joining


@pytest.fixture(scope="module")
def halves():
    X, y = make_union_of_subspaces(500, n_subspaces=4, noise=0.1, random_state=3)
    return X[:300], y[:300], X[300:], y[300:]


def in_feature_order(expression, X):
    """Return the coefficients of new points, one column a sample."""
    u, own = expression(X)
    h = np.empty((len(u), len(expression.order)))
    h[:, expression.order] = u @ expression.vectors.T
    return h, own


@pytest.mark.parametrize("n_features", [20, 400])
@pytest.mark.parametrize("eta1", [0.1, 10.0])
def test_new_points_are_expressed_as_ridge_regression_says(n_features, eta1):
    X, _ = make_union_of_subspaces(90, n_features=n_features, noise=0.2, random_state=0)
    X, new = unit_norm(X[:80]), unit_norm(X[80:])
    h, own = in_feature_order(NewPointExpression(X, eta1), new)
    G = np.linalg.inv(X.T @ X + eta1 * np.eye(n_features))
    np.testing.assert_allclose(h, new @ G @ X.T, atol=1e-10)
    np.testing.assert_allclose(own, np.einsum("ij,jk,ik->i", new, G, new), atol=1e-10)


@pytest.mark.parametrize("n_features", [20, 400])
def test_a_new_point_has_the_coefficients_of_one_more_sample(n_features):
    X, _ = make_union_of_subspaces(81, n_features=n_features, noise=0.2, random_state=0)
    X = unit_norm(X)
    expression = NewPointExpression(X[:80], 1.0)
    h, own = in_feature_order(expression, X[80:])
    remainders = np.empty(80)
    remainders[expression.order] = 1.0 - expression.leverages
    C = least_squares_representation(X, 1.0)
    np.testing.assert_allclose(h[0], C[80, :80], atol=1e-10)
    by_others = h[0] / ((1.0 + own[0]) * remainders + h[0] ** 2)
    np.testing.assert_allclose(by_others, C[:80, 80], atol=1e-10)


def joined(K, potentials, eta2, own):
    scale = np.full(K.shape[1], 1.0 + 1e-9)
    rows, columns, values = joining.join_rows(
        lambda tile: K[:, tile], lambda rows, columns, h: h, scale, potentials, eta2, own
    )
    return sparse.coo_array((values, (rows, columns)), shape=K.shape).toarray()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("own", [False, True])
def test_a_row_is_what_the_projection_gives_it(own, seed, monkeypatch):
    monkeypatch.setattr(joining, "FIRST", 16)
    monkeypatch.setattr(joining, "FIRST_KEPT", 4)
    monkeypatch.setattr(joining, "TILE", 32)
    rng = np.random.default_rng(seed)
    K = np.abs(rng.standard_normal((12, 100))) * 10.0 ** rng.uniform(-3, 0, (12, 1))
    potentials = rng.uniform(-0.1, 0.5, 100)
    eta2 = 0.3

    def excess(t, v):
        return np.maximum(v - t, 0).sum() + own * max(-2 * t, 0.0) - eta2

    A = joined(K, potentials, eta2, own)
    for row, k in zip(A, K, strict=True):
        v = k - potentials
        t = optimize.brentq(excess, -100, 100, args=(v,), xtol=1e-14)
        np.testing.assert_allclose(row, np.maximum(v - t, 0) / eta2, atol=1e-9)


def test_a_point_like_no_other_keeps_its_mass():
    K = np.zeros((1, 50))
    A = joined(K, np.full(50, 0.2), 0.1, own=True)
    assert A.sum() == 0.0
    assert joined(K, np.full(50, 0.2), 0.1, own=False).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("affine", [True, False])
def test_new_points_of_the_same_subspaces_are_placed_right(symmetric, affine, halves):
    X, y, new, y_new = halves
    model = ADSSC(4, symmetric=symmetric, affine=affine, random_state=0).fit(X)
    names = {label: np.bincount(y[model.labels_ == label]).argmax() for label in range(4)}
    predicted = np.array([names[label] for label in model.predict(new)])
    assert np.mean(predicted == y_new) > 0.98
    assert np.mean(model.predict(X) == model.labels_) > 0.99
    shares = model.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.all(model.transform(new).sum(axis=1) <= 1 + 1e-9)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(new))


def test_scale_and_form_of_new_points_do_not_matter(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    expected = model.transform(new)
    np.testing.assert_allclose(model.transform(7.0 * new), expected, atol=1e-10)
    np.testing.assert_allclose(model.transform(sparse.csr_array(new)), expected, atol=1e-10)


def test_single_precision_of_large_fits_is_close(halves, monkeypatch):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    exact = model.transform(new)
    monkeypatch.setattr(new_points, "SINGLE_FROM", 100)
    model = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(model.transform(new), exact, atol=1e-4)


def test_pickled_models_predict(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    expected = model.transform(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(new), expected)


def test_refitting_forgets_what_was_prepared(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    model.predict(new)
    model.fit(X[:200])
    fresh = ADSSC(4, random_state=0).fit(X[:200])
    np.testing.assert_array_equal(model.transform(new), fresh.transform(new))


def test_what_cannot_be_placed_is_said(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    zero = new.copy()
    zero[3] = 0
    with pytest.raises(ValueError, match="zero"):
        model.predict(zero)
    sparse_model = ADSSC(4, eta3=0.01, random_state=0).fit(X)
    with pytest.raises(NotImplementedError, match=r"eta3=0\.01"):
        sparse_model.predict(new)


def test_affine_subspaces_get_a_coordinate_of_their_own():
    X, y = make_union_of_subspaces(
        240, n_subspaces=4, dimension=2, n_features=12, affine=True, random_state=1
    )
    lifted = ADSSC(4, affine=True, random_state=0).fit(X)
    assert clustering_accuracy(y, lifted.labels_) == 1.0
    height = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    by_hand = ADSSC(4, random_state=0).fit(np.hstack([X, np.full((240, 1), height)]))
    np.testing.assert_allclose(
        lifted.affinity_matrix_.toarray(), by_hand.affinity_matrix_.toarray(), atol=1e-10
    )
    assert lifted.n_features_in_ == 12


def test_the_origin_is_a_point_of_an_affine_space():
    X, _ = make_union_of_subspaces(120, affine=True, random_state=1)
    X[0] = 0.0
    model = ADSSC(3, affine=True, random_state=0).fit(X)
    assert model.predict(np.zeros((1, 20))).shape == (1,)
    np.testing.assert_allclose(model.transform(sparse.csr_array(X)), model.transform(X), atol=1e-9)
