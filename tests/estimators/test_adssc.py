import pickle

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dssc import (
    ADSSC,
    clustering_accuracy,
    elastic_net_representation,
    least_squares_representation,
    make_union_of_subspaces,
    unit_norm,
)
from dssc.estimators import adssc
from dssc.stochastic.eta2_by_neighbors import mean_neighbors
from tests.judge import certify

ZERO_ROWS = "its data hold zero rows, which have no direction and are refused by name"
REPEATED = "rows that are repeated, without weights, are clustered as one point that counts once"


@parametrize_with_checks(
    [ADSSC(), ADSSC(2, eta2=0.1, symmetric=False)],
    expected_failed_checks=lambda estimator: {
        "check_estimators_dtypes": ZERO_ROWS,
        "check_estimator_sparse_tag": ZERO_ROWS,
        "check_estimator_sparse_array": ZERO_ROWS,
        "check_estimator_sparse_matrix": ZERO_ROWS,
        "check_sample_weight_equivalence_on_dense_data": REPEATED,
        "check_sample_weight_equivalence_on_sparse_data": REPEATED,
    },
)
# One check asks for two clusters from one eigenvector, the constant one.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters:UserWarning")
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
@pytest.mark.filterwarnings("ignore:the 16 rows of X are .* distinct:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(240, n_subspaces=4, noise=0.05, random_state=0)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("assign_labels", ["kmeans", "cluster_qr"])
def test_subspaces_are_found(symmetric, assign_labels, data):
    X, y = data
    model = ADSSC(4, symmetric=symmetric, assign_labels=assign_labels, random_state=0)
    assert clustering_accuracy(y, model.fit_predict(X)) > 0.98


def test_fitted_attributes_are_the_stages_of_the_paper(data):
    X, _ = data
    model = ADSSC(4, eta1=0.5, eta2=0.05, symmetric=False, n_components=4, random_state=0).fit(X)
    C = least_squares_representation(unit_norm(X), 0.5)
    np.testing.assert_array_equal(model.representation_matrix_, C)
    certify(np.abs(C), 0.05, model.projection_)
    assert isinstance(model.affinity_matrix_, sparse.csr_array)
    np.testing.assert_allclose(model.affinity_matrix_.sum(axis=0), 1, atol=1e-8)
    assert model.embedding_.shape == (240, 4)
    assert model.eta2_ == 0.05
    assert model.n_iter_ == model.projection_.n_iter >= 1
    assert model.n_features_in_ == 20
    assert model.labels_.dtype.kind == "i"


def test_symmetric_projects_the_symmetric_part(data):
    X, _ = data
    model = ADSSC(4, eta2=0.05, random_state=0).fit(X)
    C = np.abs(model.representation_matrix_)
    certify((C + C.T) / 2, 0.05, model.projection_)
    A = model.affinity_matrix_
    assert (A != A.T).nnz == 0


@pytest.mark.parametrize("n_neighbors", [5, 12, 30])
def test_eta2_is_found_by_the_number_of_neighbours(n_neighbors, data):
    model = ADSSC(4, n_neighbors=n_neighbors, random_state=0).fit(data[0])
    assert mean_neighbors(model.affinity_matrix_) == pytest.approx(n_neighbors, rel=0.02)
    assert model.eta2_ == model.projection_.eta2


def test_scaling_the_points_changes_nothing(data, rng):
    X, _ = data
    scaled = X * np.exp(rng.standard_normal((240, 1)))
    one, two = (ADSSC(4, random_state=0).fit(Z) for Z in (X, scaled))
    np.testing.assert_allclose(
        one.affinity_matrix_.toarray(), two.affinity_matrix_.toarray(), atol=1e-7
    )


def test_order_of_points_does_not_matter(data, rng):
    X, _ = data
    order = rng.permutation(len(X))
    one = ADSSC(4, random_state=0).fit_predict(X)
    two = ADSSC(4, random_state=0).fit_predict(X[order])
    assert clustering_accuracy(one[order], two) == 1.0


@pytest.mark.parametrize("seed", range(3))
def test_repeatable_for_a_seed(seed, data):
    one, two = (ADSSC(4, random_state=seed).fit_predict(data[0]) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_one_thread_and_two_give_the_same(thread_counts, data):
    models = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        models.append(ADSSC(4, random_state=0).fit(data[0]))
    one, two = models
    np.testing.assert_array_equal(one.affinity_matrix_.toarray(), two.affinity_matrix_.toarray())
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_single_precision_is_kept_and_close(data):
    X, _ = data
    double = ADSSC(4, eta2=0.05, random_state=0).fit(X)
    single = ADSSC(4, eta2=0.05, random_state=0).fit(X.astype(np.float32))
    assert single.representation_matrix_.dtype == np.float32
    assert single.embedding_.dtype == np.float32
    np.testing.assert_allclose(
        single.affinity_matrix_.toarray(), double.affinity_matrix_.toarray(), atol=1e-4
    )
    assert single.projection_.converged
    np.testing.assert_array_equal(single.labels_, double.labels_)


def test_data_frames_and_sparse_matrices(data):
    X, _ = data
    expected = ADSSC(4, random_state=0).fit_predict(X)
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(20)])
    model = ADSSC(4, random_state=0).fit(frame)
    np.testing.assert_array_equal(model.labels_, expected)
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    for make in (sparse.csr_array, sparse.csc_matrix):
        labels = ADSSC(4, random_state=0).fit_predict(make(X))
        assert adjusted_rand_score(labels, expected) == 1.0


def test_clone_pickle_and_pipeline(data):
    X, y = data
    model = clone(ADSSC(4, eta1=2.0, random_state=0))
    assert model.get_params()["eta1"] == 2.0
    loaded = pickle.loads(pickle.dumps(model.fit(X)))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)
    assert loaded.projection_.status == model.projection_.status
    pipeline = make_pipeline(StandardScaler(with_mean=False), ADSSC(4, random_state=0))
    assert clustering_accuracy(y, pipeline.fit_predict(X)) > 0.95


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_grid_search_with_a_clustering_score(data):
    X, y = data
    everything = [(np.arange(len(X)), np.arange(len(X)))]
    search = GridSearchCV(
        ADSSC(4, random_state=0),
        {"eta1": [0.1, 1.0], "n_neighbors": [4, 12]},
        scoring=lambda model, X, y: adjusted_rand_score(y, model.labels_),
        cv=everything,
        refit=True,
    )
    search.fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_.labels_.shape == (240,)


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
@pytest.mark.parametrize("n", [2, 3, 5, 13])
def test_few_points(n, rng):
    for k in range(1, n + 1):
        labels = ADSSC(k, random_state=0).fit_predict(rng.standard_normal((n, 4)))
        assert labels.shape == (n,)
        assert labels.max() < k


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_awkward_but_valid_data(rng):
    X, y = make_union_of_subspaces(90, noise=0.01, random_state=0)
    duplicated = np.vstack([X, X])
    labels = ADSSC(3, random_state=0).fit_predict(duplicated)
    np.testing.assert_array_equal(labels[:90], labels[90:])
    constant_feature = np.hstack([X, np.ones((90, 1))])
    wide = X @ np.linalg.qr(rng.standard_normal((200, 20)))[0].T
    rank_one = np.outer(rng.standard_normal(30), np.ones(5))
    with pytest.warns(UserWarning, match="30 rows of X are 2 distinct"):
        assert np.all(np.isfinite(ADSSC(3, random_state=0).fit(rank_one).embedding_))
    with pytest.warns(UserWarning, match="all 12 distinct samples are orthogonal"):
        assert np.all(np.isfinite(ADSSC(3, random_state=0).fit(np.eye(12)).embedding_))
    for Z in (constant_feature, wide):
        assert np.all(np.isfinite(ADSSC(3, random_state=0).fit(Z).embedding_))
    assert clustering_accuracy(y, ADSSC(3, random_state=0).fit_predict(wide)) > 0.95


def test_strays_go_to_the_most_similar_cluster_with_a_warning(data):
    X, _ = data
    lone = np.zeros((1, 21))
    lone[0, 0], lone[0, 20] = 0.02, 1.0
    Z = np.vstack([np.hstack([X, np.zeros((240, 1))]), lone])
    with pytest.warns(UserWarning, match="connected components, more than n_clusters=4.*eta2"):
        labels = ADSSC(4, eta2=1e-4, random_state=0).fit_predict(Z)
    assert labels.max() <= 3


def test_an_unfinished_projection_warns(data):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        ADSSC(4, eta2=1.0, max_iter=1, random_state=0).fit(data[0])


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.array([[1.0, np.nan], [1.0, 0.0]]), {}, "NaN"),
        (np.array([[1.0, np.inf], [1.0, 0.0]]), {}, "1 rows with NaN or infinite values: 0; "),
        (np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 1.0]]), {}, "1 zero rows.*: 1; remove"),
        (np.eye(3), {"n_clusters": 4}, "n_samples=3 should be >= n_clusters=4"),
        (np.eye(1), {"n_clusters": 1}, "1 sample"),
        (np.eye(3), {"eta1": -1.0}, r"eta1=-1\.0 must be a positive finite number"),
        (np.eye(3), {"eta1": 0.0}, r"eta1=0\.0"),
        (np.eye(3), {"eta2": np.nan}, "eta2=nan"),
        (np.eye(3), {"eta2": np.inf}, "eta2=inf"),
        (np.eye(3), {"eta2": 0}, "eta2=0"),
        (np.eye(3), {"n_clusters": 0}, "n_clusters=0 must be an integer of at least 1"),
        (np.eye(3), {"n_clusters": 2.5}, r"n_clusters=2\.5"),
        (np.eye(3), {"n_neighbors": 0}, "n_neighbors=0"),
        (np.eye(3), {"n_init": 0}, "n_init=0"),
        (np.eye(3), {"tol": 0.0}, r"tol=0\.0"),
        (np.eye(3), {"assign_labels": "best"}, "assign_labels='best' must be"),
        (np.eye(3), {"n_components": 7}, "n_components=7"),
    ],
)
def test_bad_input_is_explained(X, options, message):
    with pytest.raises(ValueError, match=message):
        ADSSC(**{"n_clusters": 2, "random_state": 0, **options}).fit(X)


@pytest.mark.parametrize("symmetric", [True, False])
def test_an_l1_penalty_gives_the_elastic_net(symmetric, data):
    X, y = data
    model = ADSSC(4, eta1=0.1, eta2=0.2, eta3=0.05, symmetric=symmetric, random_state=0).fit(X)
    result = elastic_net_representation(unit_norm(X), 0.1, 0.05)
    C = model.representation_matrix_
    assert sparse.issparse(C)
    np.testing.assert_allclose(C.toarray(), result.representation.toarray(), atol=1e-8)
    K = np.abs(C.toarray())
    certify((K + K.T) / 2 if symmetric else K, 0.2, model.projection_)
    assert clustering_accuracy(y, model.labels_) > 0.95


def test_an_l1_penalty_that_leaves_nothing_is_refused(data):
    with pytest.raises(ValueError, match=r"eta3=5\.0 is so large that C is zero"):
        ADSSC(4, eta3=5.0).fit(data[0])
    with pytest.raises(ValueError, match="eta3=-1"):
        ADSSC(4, eta3=-1.0).fit(data[0])


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("step", ["select", "express", "affinity_graph", "embed", "assign"])
@pytest.mark.parametrize("warm_start", [False, True])
def test_a_fit_that_fails_leaves_the_last_one_as_it_was(step, error, warm_start, monkeypatch):
    X, _ = make_union_of_subspaces(90, n_subspaces=3, random_state=0)
    other = make_union_of_subspaces(80, n_subspaces=3, n_features=20, random_state=1)[0]
    # Without n_neighbors, it is selected, and the labels are those of the selection.
    given = {"eta1": 1.0, "n_neighbors": None if step == "select" else 8}
    model = ADSSC(3, **given, warm_start=warm_start, random_state=0).fit(X)
    before = {name: value for name, value in vars(model).items() if name != "_reusable"}
    predicted = model.predict(X)
    original = getattr(adssc, step)

    def failing(*arguments, **options):
        original(*arguments, **options)
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(adssc, step, failing)
        with pytest.raises(error):
            model.fit(other)
        fresh = ADSSC(3, **given)
        with pytest.raises(error):
            fresh.fit(other)
    assert vars(model) == before
    assert vars(fresh) == vars(ADSSC(3, **given))
    np.testing.assert_array_equal(model.predict(X), predicted)
    assert len(model.fit(other).labels_) == 80


def test_warnings_point_at_the_line_that_called_fit(data):
    with pytest.warns(UserWarning, match="connected components") as record:
        ADSSC(2, eta2=1e-4, random_state=0).fit(data[0])
    assert {warning.filename for warning in record} == {__file__}
    with pytest.warns(ConvergenceWarning, match="raise max_iter") as record:
        ADSSC(4, eta2=1.0, max_iter=1, random_state=0).fit(data[0])
    assert {warning.filename for warning in record} == {__file__}


@pytest.mark.parametrize("scale", [1e-307, 1e-200, 1e160, 1e300])
@pytest.mark.parametrize("parameters", [{}, {"affine": True}, {"affine": True, "eta1": 1.0}])
def test_the_scale_of_the_data_changes_nothing(scale, parameters):
    """Warnings are errors here, so none may leak from an overflow either."""
    X, _ = make_union_of_subspaces(90, noise=0.02, affine="affine" in parameters, random_state=0)
    model, scaled = (
        ADSSC(3, n_neighbors=5, random_state=0, **parameters).fit(s * X) for s in (1.0, scale)
    )
    difference = model.affinity_matrix_ - scaled.affinity_matrix_
    assert np.abs(difference.data).max(initial=0.0) <= 1e-10
    np.testing.assert_array_equal(model.labels_, scaled.labels_)
    np.testing.assert_array_equal(model.predict(X), scaled.predict(scale * X))
    for basis, other in zip(model.subspace_bases_, scaled.subspace_bases_, strict=True):
        np.testing.assert_allclose(basis.T @ basis, other.T @ other, atol=1e-10)
