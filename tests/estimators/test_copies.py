import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits

from dssc import (
    ADSSC,
    JDSSC,
    LRSC,
    LSR,
    S3COMP,
    SSC,
    SSCOMP,
    TSC,
    EnSC,
    clustering_accuracy,
    make_union_of_subspaces,
    project_doubly_stochastic,
)
from dssc.engines.cpu import engine
from dssc.estimators import copies
from dssc.estimators.copies import copy_cycle, spread_plan
from dssc.features import DistinctRows
from dssc.graph import count_components

ESTIMATORS = [
    ADSSC(3), ADSSC(3, eta1=1.0, eta2=0.1, symmetric=False), ADSSC(3, affine=True),
    JDSSC(3, eta2=1.0), LSR(3), LSR(3, affinity="doubly_stochastic"), SSC(3), EnSC(3),
    TSC(3), LRSC(3), S3COMP(3),
]  # fmt: skip


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(90, noise=0.02, random_state=0)


@pytest.fixture(scope="module")
def samples():
    """Numbers of the points of 150 samples; the first copies come in the order of the points."""
    rng = np.random.default_rng(0)
    return np.concatenate([np.arange(90), rng.integers(20, size=60)])


def rows_of(point_of):
    _, first = np.unique(point_of, return_index=True)
    return DistinctRows(first, np.asarray(point_of), np.ones(len(point_of)))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 8), st.booleans(), st.integers(0, 2**32 - 1))
def test_copies_share_the_affinity_of_their_point(m, n_more, symmetric, seed):
    rng = np.random.default_rng(seed)
    K = rng.random((m, m)) * (rng.random((m, m)) < 0.6)
    A = project_doubly_stochastic(K + K.T if symmetric else K, 0.1).plan
    point_of = np.concatenate([np.arange(m), rng.integers(m, size=n_more)])
    rows = rows_of(point_of)
    spread = sparse.csr_array(spread_plan(A, rows)).toarray()
    np.testing.assert_allclose(spread.sum(axis=0), 1.0, atol=1e-7)
    np.testing.assert_allclose(spread.sum(axis=1), 1.0, atol=1e-7)
    assert spread.min() >= 0.0
    if symmetric:
        np.testing.assert_array_equal(spread, spread.T)
    members = np.eye(m)[point_of]
    between = members.T @ spread @ members
    off = ~np.eye(m, dtype=bool)
    np.testing.assert_allclose(between[off], sparse.csr_array(A).toarray()[off], atol=1e-12)
    to_points = spread @ members  # equal for all copies of a point
    np.testing.assert_allclose(to_points, to_points[rows.first][point_of], atol=1e-12)
    assert count_components(spread) == count_components(A)


def test_affinities_of_many_copies_stay_sparse():
    rows = rows_of(np.arange(40_000) % 4)
    spread = spread_plan(np.full((4, 4), 0.25), rows)
    assert spread.nnz <= 12 * 40_000
    assert spread.indices.dtype == np.int32
    assert copy_cycle(rows).nnz == 40_000


@pytest.mark.parametrize("model", ESTIMATORS, ids=str)
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_copies_change_nothing(model, data, samples, rng):
    X, _ = data
    plain = model.set_params(random_state=0).fit(X)
    before = {name: getattr(plain, name) for name in ("labels_", "embedding_", "n_clusters_")}
    lengths = 1.0 if getattr(model, "affine", False) else rng.uniform(0.5, 2.0, (150, 1))
    model.fit(X[samples] * lengths)
    np.testing.assert_array_equal(model.labels_, before["labels_"][samples])
    np.testing.assert_allclose(
        np.abs(model.embedding_), np.abs(before["embedding_"][samples]), atol=1e-5
    )
    np.testing.assert_array_equal(model.distinct_rows_, np.arange(90))
    assert model.affinity_matrix_.shape == model.representation_matrix_.shape == (150, 150)
    assert model.n_clusters_ == before["n_clusters_"]


@pytest.mark.parametrize("signed", [True, False])
def test_attributes_for_all_samples_agree(signed, data, samples, rng):
    X, _ = data
    X = X[samples] * (1.0 if signed else rng.choice([-1.0, 1.0], (150, 1)))
    model = ADSSC(3, eta1=0.1, n_neighbors=6, signed=signed, random_state=0).fit(X)
    assert len(model.distinct_rows_) == 90
    C, A = model.representation_matrix_, model.affinity_matrix_
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.abs(C.diagonal()).max() == 0.0
    assert np.linalg.norm(U - C @ U, axis=1).max() < 0.3
    np.testing.assert_allclose(A.sum(axis=0), 1.0, atol=1e-8)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.subspaces().residuals.shape == model.subspaces().outlier_scores.shape == (150,)
    assert model.projection_.plan.shape == (90, 90)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.labels_)


@pytest.mark.parametrize("kind", ["csr", "torch"])
def test_sparse_samples_and_tensors(kind, data, samples):
    X, _ = data
    expected = ADSSC(3, eta1=1.0, n_neighbors=6, random_state=0).fit(X).labels_[samples]
    given = sparse.csr_array(X[samples])
    options = {}
    if kind == "torch":
        given = pytest.importorskip("torch").from_numpy(X[samples])
        options = {"device": "torch"}
    model = ADSSC(3, eta1=1.0, n_neighbors=6, random_state=0, **options).fit(given)
    assert clustering_accuracy(model.labels_, expected) == 1.0
    assert model.affinity_matrix_.shape == (150, 150)


def test_the_spectral_step_does_not_fail_on_copies():
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    plain = ADSSC(10, eta1=1.0, n_neighbors=12, random_state=0).fit(X)
    samples = np.concatenate([np.arange(400), np.tile(np.arange(135), 30)])
    model = ADSSC(10, eta1=1.0, n_neighbors=12, random_state=0).fit(X[samples])
    np.testing.assert_array_equal(model.labels_, plain.labels_[samples])


def test_coefficients_of_many_samples_are_those_in_the_graph(data, samples, monkeypatch):
    monkeypatch.setattr(copies, "MATRIX_FREE_FROM", 100)
    X, _ = data
    model = ADSSC(3, eta1=1.0, n_neighbors=6, random_state=0).fit(X[samples])
    C, plain = model.representation_matrix_, ADSSC(3, eta1=1.0, n_neighbors=6).fit(X)
    assert sparse.issparse(C)
    places = C.tocoo()
    values = plain.representation_matrix_[samples[places.row], places.col]
    np.testing.assert_allclose(places.data, values)
    assert engine.MATRIX_FREE_FROM == 2000


def test_copies_can_be_kept_apart(data):
    X, _ = data
    model = ADSSC(3, eta1=1.0, n_neighbors=12, merge_copies=False, random_state=0)
    model.fit(np.vstack([X, X]))
    assert len(model.distinct_rows_) == 180
    A = model.affinity_matrix_
    assert np.mean(A[np.arange(90), np.arange(90, 180)]) > 2 / 12  # more than an equal share


@pytest.mark.parametrize(
    "model", [ADSSC(2), JDSSC(2), LSR(2), TSC(2, affinity="doubly_stochastic")], ids=str
)
def test_too_few_distinct_points_are_named_once(model):
    X = np.ones((50, 3))
    message = "the 50 rows of X are 1 distinct.*n_clusters=2 clusters cannot be told apart"
    with pytest.warns(UserWarning, match=message) as warned:
        model.fit(X)
    assert len(warned) == 1
    assert set(model.labels_) == {0}
    assert model.n_clusters_ == 1
    assert model.embedding_.shape == (50, 1)
    assert model.affinity_matrix_.shape == (50, 50)
    np.testing.assert_allclose(model.representation_matrix_ @ X, X)


@pytest.mark.parametrize("model", [ADSSC(4), JDSSC(4), SSC(4), SSCOMP(4)], ids=str)
def test_as_many_points_as_clusters_are_the_clusters(model, rng):
    points = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
    y = rng.permutation(np.arange(40) % 4)
    model.fit(points[y])
    assert clustering_accuracy(y, model.labels_) == 1.0
    if isinstance(model, ADSSC):
        np.testing.assert_array_equal(model.predict(points[y]), model.labels_)
        assert model.subspaces().dimensions.tolist() == [1, 1, 1, 1]


def test_one_cluster_of_equal_points_needs_no_warning():
    model = ADSSC(1).fit(np.ones((20, 2)))
    assert model.n_clusters_ == 1
    assert model.predict([[2.0, 2.0]]) == [0]


def test_equal_points_are_named_where_clusters_are_to_be_counted():
    with pytest.warns(
        UserWarning, match="are 1 distinct point.*, so clusters cannot be told apart"
    ):
        model = ADSSC(None).fit(np.ones((20, 2)))
    assert model.n_clusters_ == 1


@pytest.mark.parametrize("model", [JDSSC(3), ADSSC(4, eta1=1.0, eta2=0.05)], ids=str)
@pytest.mark.parametrize("n", [200, 5000])
def test_points_of_rank_one_cost_nothing(model, n, rng):
    X = np.outer(rng.standard_normal(n), rng.standard_normal(10))
    with pytest.warns(UserWarning, match="are 1 distinct"):
        model.fit(X)
    assert model.projection_ is None  # no solver ran


@pytest.mark.parametrize("model", [ADSSC(2), JDSSC(2), LSR(1)], ids=str)
def test_one_feature_is_explained(model, rng):
    X = rng.standard_normal((30, 1))
    with pytest.warns(UserWarning, match=r"n_features=1.*by their sign at most.*affine=True"):
        model.fit(X)


def test_affine_clusters_of_one_feature_are_found(rng):
    y = np.arange(60) % 3
    X = (np.array([0.0, 5.0, 20.0])[y] + 0.1 * rng.standard_normal(60))[:, None]
    assert clustering_accuracy(y, ADSSC(3, affine=True, random_state=0).fit_predict(X)) == 1.0


def test_orthogonal_points_are_named():
    with pytest.warns(UserWarning, match="all 40 distinct samples are orthogonal.*arbitrary"):
        ADSSC(3, random_state=0).fit(np.eye(40))


def test_one_cluster_in_several_components_needs_no_advice(data):
    model = ADSSC(1, eta1=1.0, eta2=1e-3, random_state=0).fit(data[0])
    assert count_components(model.affinity_matrix_) > 1
    assert set(model.labels_) == {0}


def test_confidence_outliers_and_other_numbers_are_those_of_the_distinct_points():
    X, _ = make_union_of_subspaces(150, n_subspaces=4, noise=0.4, random_state=0)
    given = {"eta1": 1.0, "eta2": 0.1, "random_state": 0}
    single = ADSSC(4, **given).fit(X)
    order = np.concatenate([np.arange(150), np.arange(0, 150, 3), np.zeros(5, dtype=int)])
    repeated = np.vstack([X[order], np.full((1, X.shape[1]), np.nan)])
    model = ADSSC(4, **given, invalid_rows="label", contamination=0.05).fit(repeated)
    np.testing.assert_allclose(model.confidence_[:-1], single.confidence_[order], atol=1e-9)
    np.testing.assert_allclose(model.outlier_scores_[:-1], single.outlier_scores_[order], atol=1e-6)
    assert model.confidence_[-1] == 0.0
    assert model.outlier_scores_[-1] == np.inf
    assert 0 < np.count_nonzero(model.labels_[:-1] < 0) <= round(0.05 * len(order))
    inside = np.flatnonzero(model.labels_[:-1] >= 0)
    for k in (3, 6):
        labels = model.labels_for(k)
        np.testing.assert_array_equal(labels < 0, model.labels_ < 0)
        np.testing.assert_array_equal(labels[inside], single.labels_for(k)[order[inside]])
    assert model.explore([3]).sizes[0].sum() == len(inside)
    assert model.distinct_rows_.tolist() == list(range(150))
    assert model.affinity_matrix_.shape == (len(repeated), len(repeated))
