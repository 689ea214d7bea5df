import pickle

import numpy as np
import pytest
from scipy import sparse

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.out_of_sample import expression


@pytest.fixture(scope="module")
def halves():
    X, y = make_union_of_subspaces(500, n_subspaces=4, noise=0.1, random_state=3)
    return X[:300], y[:300], X[300:], y[300:]


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
    monkeypatch.setattr(expression, "SINGLE_FROM", 100)
    model = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(model.transform(new), exact, atol=1e-4)


def test_pickled_models_predict(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    expected = model.transform(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).transform(new), expected)


def test_refitting_replaces_what_predictions_prepared(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    model.predict(new)
    model.fit(X[:200])
    fresh = ADSSC(4, random_state=0).fit(X[:200])
    np.testing.assert_array_equal(model.transform(new), fresh.transform(new))


def test_points_that_cannot_be_placed_are_refused(halves):
    X, _, new, _ = halves
    model = ADSSC(4, random_state=0).fit(X)
    zero = new.copy()
    zero[3] = 0
    with pytest.raises(ValueError, match="zero"):
        model.predict(zero)
    sparse_model = ADSSC(4, eta3=0.01, random_state=0).fit(X)
    with pytest.raises(NotImplementedError, match=r"eta3=0\.01"):
        sparse_model.predict(new)


def test_affine_subspaces_get_one_more_coordinate():
    X, y = make_union_of_subspaces(
        240, n_subspaces=4, dimension=2, n_features=12, affine=True, random_state=1
    )
    lifted = ADSSC(4, affine=True, random_state=0).fit(X)
    assert clustering_accuracy(y, lifted.labels_) == 1.0
    given = {"eta1": 0.01, "n_neighbors": 8, "random_state": 0}
    lifted = ADSSC(4, affine=True, **given).fit(X)
    height = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    by_hand = ADSSC(4, **given).fit(np.hstack([X, np.full((240, 1), height)]))
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
