import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel
from sklearn.neighbors import kneighbors_graph
from sklearn.utils.estimator_checks import parametrize_with_checks

from dssc import ADSSC, GraphClustering, clustering_accuracy, project_doubly_stochastic
from dssc.estimators.shapes import looks_like_affinity
from dssc.report import html_report
from dssc.stochastic import mean_neighbors
from tests.judge import certify

FEATURES = "its data are features, not similarities"
ISOLATED = "its data hold points without similarity to others, which are refused by name"
REPEATED = "neighbours are found without weights, and repeated samples are neighbours"
CLASSIFIER = "it takes every estimator with predict_proba and sparse input for a classifier"


def expected_failed_checks(estimator):
    if estimator.affinity != "precomputed":
        return {
            "check_estimator_sparse_array": CLASSIFIER,
            "check_estimator_sparse_matrix": CLASSIFIER,
            "check_sample_weight_equivalence_on_dense_data": REPEATED,
            "check_sample_weight_equivalence_on_sparse_data": REPEATED,
        }
    return {
        "check_clustering": FEATURES,
        "check_estimator_sparse_tag": ISOLATED,
        "check_estimator_sparse_array": ISOLATED,
        "check_estimator_sparse_matrix": ISOLATED,
    }


@parametrize_with_checks(
    [
        GraphClustering(),
        GraphClustering(affinity="nearest_neighbors", invalid_rows="label"),
    ],
    expected_failed_checks=expected_failed_checks,
)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters:UserWarning")
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def moons():
    return make_moons(240, noise=0.05, random_state=0)


def gaussian(X, Y=None):
    return rbf_kernel(X, Y, gamma=20.0)


def test_from_a_graph_to_labels_in_three_lines(moons):
    X, y = moons
    graph = kneighbors_graph(X, 10)
    labels = GraphClustering(2, random_state=0).fit_predict(graph)
    assert clustering_accuracy(y, labels) == 1.0


@pytest.mark.parametrize("affinity", ["nearest_neighbors", gaussian])
def test_features_become_similarities(affinity, moons):
    X, y = moons
    model = GraphClustering(2, affinity=affinity, random_state=0).fit(X[:180])
    assert clustering_accuracy(y[:180], model.labels_) > 0.98
    assert clustering_accuracy(y[180:], model.predict(X[180:])) > 0.98
    assert model.n_features_in_ == 2


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csr_matrix])
def test_the_affinity_is_the_certified_projection(make, moons):
    K = gaussian(moons[0])
    K[K < 1e-3] = 0.0
    np.fill_diagonal(K, 0.0)
    model = GraphClustering(2, eta2=0.5, random_state=0).fit(make(K))
    if make is np.asarray:
        certify(K, 0.5, model.projection_)
    # Of a sparse graph, A has no other entries than edges and the diagonal.
    support = sparse.csr_array(K + np.eye(len(K))) if make is not np.asarray else None
    expected = project_doubly_stochastic(K, 0.5, support=support).plan
    expected = expected.toarray() if sparse.issparse(expected) else expected
    np.testing.assert_allclose(model.affinity_matrix_.toarray(), expected, atol=1e-7)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(4, 40), st.floats(0.05, 0.6), st.floats(-2, 2))
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_pairs_without_an_edge_stay_unconnected(seed, n, density, log_eta2):
    rng = np.random.default_rng(seed)
    graph = sparse.random_array((n, n), density=density, rng=rng)
    path = sparse.diags_array(rng.uniform(0.1, 1.0, n - 1), offsets=1, shape=(n, n))
    graph = sparse.csr_array(graph + path)
    A = GraphClustering(2, eta2=10.0**log_eta2, random_state=0).fit(graph).affinity_matrix_
    edges = (graph + graph.T).toarray() + np.eye(n)
    assert not np.any(A.toarray()[edges == 0])
    np.testing.assert_allclose(A.sum(axis=0), 1.0, atol=1e-7)
    assert (A != A.T).nnz == 0


def test_a_unit_diagonal_takes_no_mass(moons):
    X, y = moons
    kernel = gaussian(X)
    assert np.all(kernel.diagonal() == 1.0)
    model = GraphClustering(2, n_neighbors=8, random_state=0).fit(kernel)
    assert model.affinity_matrix_.diagonal().mean() < 1e-3
    assert clustering_accuracy(y, model.labels_) == 1.0
    kept = GraphClustering(2, n_neighbors=8, self_loops=True, random_state=0).fit(kernel)
    assert kept.affinity_matrix_.diagonal().mean() > 0.1


def test_a_constant_in_all_similarities_changes_nothing(moons):
    squares = -np.sum((moons[0][:, None] - moons[0][None]) ** 2, axis=2)
    inner = linear_kernel(moons[0])
    models = [GraphClustering(2, eta2=0.5, random_state=0).fit(K) for K in (squares / 2, inner)]
    one, two = (model.affinity_matrix_.toarray() for model in models)
    off = ~np.eye(len(one), dtype=bool)
    np.testing.assert_allclose(one[off], two[off], atol=1e-7)


def test_the_order_of_points_does_not_matter(moons, rng):
    K, order = gaussian(moons[0]), rng.permutation(240)
    one = GraphClustering(2, random_state=0).fit(K).affinity_matrix_.toarray()
    two = GraphClustering(2, random_state=0).fit(K[order][:, order]).affinity_matrix_.toarray()
    np.testing.assert_allclose(one[order][:, order], two, atol=1e-6)


@pytest.mark.parametrize("n_neighbors", [8, 40])
def test_eta2_is_found_by_the_number_of_neighbours(n_neighbors, moons):
    K = gaussian(moons[0])
    model = GraphClustering(2, n_neighbors=n_neighbors, random_state=0).fit(K)
    assert model.n_neighbors_ == pytest.approx(n_neighbors, rel=0.02)
    np.fill_diagonal(K, 0.0)
    result = project_doubly_stochastic(K, n_neighbors=n_neighbors)
    assert mean_neighbors(result.plan) == pytest.approx(n_neighbors, rel=0.02)
    assert result.eta2 == pytest.approx(model.eta2_)


def test_equal_points_are_neighbours():
    X, y = make_blobs(60, centers=3, cluster_std=0.5, random_state=0)
    doubled = np.vstack([X, X])
    model = GraphClustering(3, affinity="nearest_neighbors", random_state=0).fit(doubled)
    assert clustering_accuracy(np.concatenate([y, y]), model.labels_) > 0.95
    A = model.affinity_matrix_.toarray()
    assert np.all(A[np.arange(60), np.arange(60) + 60] > 0)


def test_the_number_of_clusters_is_estimated():
    X, _ = make_blobs(300, centers=4, cluster_std=0.5, random_state=1)
    model = GraphClustering(None, affinity="nearest_neighbors", random_state=0).fit(X)
    assert model.n_clusters_ == 4


def test_new_points_by_their_similarities(moons):
    X, y = moons
    K = gaussian(X)
    for kernel in (K, sparse.csr_array(np.where(K > 1e-2, K, 0.0))):
        model = GraphClustering(2, random_state=0).fit(kernel[:180][:, :180])
        predicted = model.predict(kernel[180:][:, :180])
        assert clustering_accuracy(y[180:], predicted) == 1.0
        loaded = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(loaded.predict(kernel[180:][:, :180]), predicted)
    with pytest.raises(ValueError, match="features"):
        model.predict(K[:5, :20])


def test_points_without_an_edge(moons):
    X, y = moons
    graph = sparse.lil_array(kneighbors_graph(X, 10, include_self=True))
    for lone in (3, 200):
        graph[lone, :] = 0.0
        graph[:, lone] = 0.0
    graph = sparse.csr_array(graph)
    with pytest.raises(ValueError, match=r"2 points without similarity to any other: 3, 200; con"):
        GraphClustering(2).fit(graph)
    model = GraphClustering(2, invalid_rows="label", random_state=0).fit(graph)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [3, 200]
    others = model.labels_ >= 0
    assert clustering_accuracy(y[others], model.labels_[others]) == 1.0
    assert model.affinity_matrix_.shape == (240, 240)
    assert model.predict(graph[[0, 3]]).tolist() == [model.labels_[0], -1]


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (np.ones((5, 3)), {}, r"square matrix of similarities, and X has shape \(5, 3\).*nearest"),
        (np.full((3, 3), np.nan), {}, "9 NaN or infinite similarities; replace them, or remove"),
        (np.ones((5, 5)), {"affinity": "rbf"}, "affinity='rbf' must be 'precomputed', 'nearest"),
        (np.ones((5, 5)), {"affinity": lambda X: X[:2]}, r"shape \(5, 5\), not \(2, 5\)"),
        (np.ones((5, 5)), {"eta2": -1.0}, "eta2"),
        (np.ones((5, 5)), {"n_neighbors": 0}, "n_neighbors=0"),
        (np.ones((5, 5)), {"contamination": 0.7}, r"contamination=0\.7 must be at most 0\.5"),
        (np.ones((5, 5)), {"invalid_rows": "drop"}, "invalid_rows='drop' must be 'error' or 'la"),
    ],
)
def test_bad_input_is_explained(X, options, message):
    with pytest.raises(ValueError, match=message):
        GraphClustering(2, **options).fit(X)


def test_other_estimators_name_this_one(moons):
    kernel = gaussian(moons[0])
    with pytest.warns(UserWarning, match=r"like a matrix of similarities.*GraphClustering"):
        ADSSC(2, eta1=1.0, n_neighbors=8, random_state=0).fit(kernel)
    graph = kneighbors_graph(moons[0], 10)  # not symmetric
    with pytest.warns(UserWarning, match=r"graph of nearest neighbours.*GraphClustering"):
        ADSSC(2, eta1=1.0, n_neighbors=8, random_state=0).fit(graph)


def test_a_square_table_of_counts_is_no_graph():
    counts = sparse.random_array((80, 80), density=0.1, rng=0)
    counts.setdiag(0.0)
    assert not looks_like_affinity(sparse.csr_array(counts))


def test_the_report_shows_a_graph(moons):
    model = GraphClustering(2, random_state=0).fit(kneighbors_graph(moons[0], 10))
    page = html_report(model, labels_true=moons[1])
    assert "GraphClustering" in page
    assert "optimal, proved" in page


def test_separation_of_a_graph_agrees_with_its_components():
    X, _ = make_blobs(120, centers=4, cluster_std=0.3, random_state=0)
    model = GraphClustering(4, affinity="nearest_neighbors", n_neighbors=8, random_state=0).fit(X)
    separation = model.separation()
    A = model.affinity_matrix_.toarray()
    members = model.labels_[:, None] == np.arange(4)
    across = members.T @ A @ members
    np.testing.assert_allclose(separation.mass, across, atol=1e-6)
    np.testing.assert_array_equal(separation.proved, (across == 0) | np.eye(4, dtype=bool))
    assert separation.n_proved > 0


@pytest.mark.parametrize("is_sparse", [True, False])
def test_separation_of_given_similarities(is_sparse):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 15)
    K = (labels[:, None] == labels) * rng.uniform(0.5, 1.0, (45, 45)) + 0.1 * rng.uniform(
        size=(45, 45)
    )
    K = (K + K.T) / 2
    X = sparse.csr_array(K * (K > 0.08)) if is_sparse else K
    model = GraphClustering(3, n_neighbors=6, random_state=0).fit(X)
    assert model.separation().n_proved == 3
    found = model.separation_range()
    assert found.low < model.eta2_ < found.high
