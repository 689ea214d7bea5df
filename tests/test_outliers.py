import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score

from dssc import ADSSC, GraphClustering, make_union_of_subspaces, unit_norm
from dssc.outliers import outlier_scale, share_in_own_cluster

GIVEN = {"eta1": 10.0, "n_neighbors": 30, "random_state": 0}


@pytest.fixture(scope="module")
def planted():
    """Return points of four subspaces and, after them, twenty that are in none."""
    X, _ = make_union_of_subspaces(300, n_subspaces=4, n_features=40, noise=0.02, random_state=0)
    noise = np.random.default_rng(0).standard_normal((20, X.shape[1]))
    return unit_norm(np.vstack([X, noise])), np.repeat([False, True], [300, 20])


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_share_is_that_of_a_loop(make, rng):
    A = rng.uniform(size=(30, 30)) * (rng.uniform(size=(30, 30)) < 0.3)
    A[5] = 0.0
    A[5, 5] = 1.0
    labels = rng.integers(3, size=30)
    shares = share_in_own_cluster(make(A), labels, 3)
    for i in range(30):
        others = [j for j in range(30) if j != i]
        inside = sum(A[i, j] for j in others if labels[j] == labels[i])
        total = sum(A[i, j] for j in others)
        assert shares[i] == pytest.approx(inside / total if total else 1 / 3)


def test_scores_are_robust_standard_deviations(rng):
    potentials = rng.normal(3.0, 0.2, 20_000)
    scores = outlier_scale(potentials, 1.0).scores(potentials)
    assert np.median(scores) == 0.0
    assert np.std(scores) == pytest.approx(1.0, abs=0.03)
    assert not outlier_scale(np.ones(9), 1.0).scores(np.ones(9)).any()


@pytest.mark.parametrize("symmetric", [True, False])
def test_planted_outliers_have_the_highest_scores(symmetric, planted):
    X, is_outlier = planted
    model = ADSSC(4, **GIVEN, symmetric=symmetric).fit(X)
    assert roc_auc_score(is_outlier, model.outlier_scores_) > 0.99
    assert model.outlier_threshold_ == np.inf
    assert model.labels_.min() == 0
    half = ADSSC(4, **GIVEN, symmetric=symmetric).fit(X[::2])
    assert roc_auc_score(is_outlier[1::2], half.outlier_scores(X[1::2])) > 0.99


def test_a_graph_has_outliers(planted):
    X, is_outlier = planted
    model = GraphClustering(4, affinity="nearest_neighbors", random_state=0).fit(X)
    assert roc_auc_score(is_outlier, model.outlier_scores_) > 0.99


def test_the_worst_share_gets_no_cluster(planted):
    X, is_outlier = planted
    plain = ADSSC(4, **GIVEN).fit(X)
    model = ADSSC(4, **GIVEN, contamination=20 / 320).fit(X)
    np.testing.assert_array_equal(model.outlier_scores_, plain.outlier_scores_)
    np.testing.assert_array_equal(model.labels_ < 0, is_outlier)
    np.testing.assert_array_equal(model.labels_[~is_outlier], plain.labels_[~is_outlier])
    np.testing.assert_array_equal(
        model.labels_ < 0, model.outlier_scores_ > model.outlier_threshold_
    )
    new = np.vstack([X[:20] + X[:20], np.random.default_rng(1).standard_normal((20, X.shape[1]))])
    labels = model.predict(new)
    np.testing.assert_array_equal(labels[:20], plain.labels_[:20])
    assert np.mean(labels[20:] < 0) > 0.9
    np.testing.assert_array_equal(labels < 0, model.outlier_scores(new) > model.outlier_threshold_)
    np.testing.assert_array_equal(model.predict_proba(new), plain.predict_proba(new))


@pytest.mark.parametrize(
    "model",
    [
        ADSSC(10, eta1=1.0, n_neighbors=10),
        ADSSC(10, eta1=1.0, n_neighbors=10, symmetric=False),
        GraphClustering(10, affinity="nearest_neighbors"),
    ],
    ids=str,
)
def test_the_same_share_of_new_points_are_outliers(model):
    X = np.random.default_rng(0).permutation(load_digits().data)
    model.set_params(contamination=0.05, random_state=0).fit(X[:900])
    assert np.mean(model.labels_ < 0) == 0.05
    assert np.mean(model.predict(X[900:]) < 0) == pytest.approx(0.05, abs=0.015)


def test_confidence_agrees_with_predictions():
    """A point that is left out of the fit gets about the share that it has as a part of it."""
    X, _ = make_union_of_subspaces(
        300, n_subspaces=3, dimension=5, n_features=12, noise=0.2, random_state=0
    )
    given = {"eta1": 0.5, "eta2": 0.05, "random_state": 0}
    whole = ADSSC(3, **given).fit(X)
    assert whole.confidence_.min() < 0.7  # not all points are easy
    differences = []
    for i in range(0, 300, 30):
        part = ADSSC(3, **given).fit(np.delete(X, i, axis=0))
        shares = part.predict_proba(X[[i]])[0]
        names = [
            np.bincount(whole.labels_[np.delete(np.arange(300), i)][part.labels_ == k]).argmax()
            for k in range(3)
        ]
        differences.append(shares[names.index(whole.labels_[i])] - whole.confidence_[i])
    assert np.median(np.abs(differences)) < 0.05
    # With itself among the fitted points, a point is at least as sure of its cluster.
    shares = whole.predict_proba(X)
    np.testing.assert_array_equal(
        shares.argmax(axis=1)[whole.confidence_ > 0.6], whole.labels_[whole.confidence_ > 0.6]
    )


@pytest.mark.parametrize("contamination", [-0.1, 0.6, np.nan, "auto"])
def test_a_share_out_of_range_is_refused(contamination, planted):
    with pytest.raises(ValueError, match="contamination="):
        ADSSC(4, contamination=contamination).fit(planted[0])
