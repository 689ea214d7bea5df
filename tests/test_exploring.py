from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC, LSR, GraphClustering, clustering_accuracy, make_union_of_subspaces
from dssc.exploring import merged_layers
from dssc.graph import as_graph
from dssc.spectral.modularity import modularity
from tests.graphs import block_diagonal

GIVEN = {"eta1": 1.0, "eta2": 0.15, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(300, n_subspaces=6, noise=0.4, random_state=0)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: ADSSC(k, **GIVEN),
        lambda k: ADSSC(k, **GIVEN, n_components=8),
        lambda k: ADSSC(k, **GIVEN, assign_labels="cluster_qr"),
        lambda k: LSR(k, random_state=0),
        lambda k: GraphClustering(k, affinity="nearest_neighbors", eta2=50.0, random_state=0),
    ],
)
def test_labels_are_those_of_a_fit_with_the_same_parameters(make, data):
    X, _ = data
    model = make(6).fit(X)
    for k in (8, 3, 5):  # more, fewer, and fewer from eigenvectors that are there already
        assert adjusted_rand_score(model.labels_for(k), make(k).fit(X).labels_) > 0.97
    assert np.unique(model.labels_for(8)).tolist() == list(range(8))


def test_the_number_of_the_fit_gives_its_labels(data):
    model = ADSSC(6, random_state=0).fit(data[0])
    labels = model.labels_for(6)
    np.testing.assert_array_equal(labels, model.labels_)
    assert labels is not model.labels_


def test_repeatable_and_not_stale(data):
    X, _ = data
    model = ADSSC(6, **GIVEN).fit(X)
    np.testing.assert_array_equal(model.labels_for(4), model.labels_for(4))
    model.fit(X[:200])
    assert len(model.labels_for(4)) == 200


def test_eigenvectors_are_computed_once(data, monkeypatch):
    from dssc import exploring

    calls = []
    original = exploring.spectral_embedding
    monkeypatch.setattr(
        exploring, "spectral_embedding", lambda *a, **o: calls.append(1) or original(*a, **o)
    )
    model = ADSSC(6, **GIVEN).fit(data[0])
    model.explore(range(2, 13))
    model.labels_for(9)
    assert len(calls) == 1


@pytest.mark.parametrize("nested", [False, True])
def test_an_exploration_describes_its_labels(nested, data):
    X, y = data
    model = ADSSC(6, **GIVEN).fit(X)
    found = model.explore([9, 2, 6, 6], nested=nested)
    assert found.counts.tolist() == [2, 6, 9]
    assert found.labels.shape == (3, 300)
    graph = as_graph(model.affinity_matrix_)
    values = np.linalg.eigvalsh(model.affinity_matrix_.toarray())[::-1]
    np.testing.assert_allclose(found.eigenvalues[:10], values[:10], atol=1e-6)
    for i, k in enumerate(found.counts):
        assert len(np.unique(found.labels[i])) == k
        assert found.modularity[i] == pytest.approx(modularity(graph, found.labels[i]))
        assert found.gaps[i] == pytest.approx(values[k - 1] - values[k], abs=1e-6)
        assert found.sizes[i].sum() == 300
        assert np.all(np.diff(found.sizes[i]) <= 0)
    assert clustering_accuracy(y, found.labels[1]) > 0.95
    assert found.counts[np.argmax(found.modularity)] == 6


def test_nested_clusterings_divide_each_other(data):
    found = ADSSC(6, **GIVEN).fit(data[0]).explore(range(1, 12), nested=True)
    for coarse, fine in zip(found.labels[:-1], found.labels[1:], strict=True):
        parents = {label: set(coarse[fine == label]) for label in np.unique(fine)}
        assert all(len(parent) == 1 for parent in parents.values())


def test_each_merge_leaves_the_highest_modularity(rng):
    A = rng.uniform(size=(40, 40)) * (rng.uniform(size=(40, 40)) < 0.3)
    graph = as_graph(A + A.T)
    labels = rng.integers(6, size=40)
    layers = merged_layers(graph, labels, 6)
    for count in range(5, 0, -1):
        before = layers[count + 1][labels]
        possible = [
            modularity(graph, np.where(before == b, a, before))
            for a, b in combinations(range(count + 1), 2)
        ]
        assert modularity(graph, layers[count][labels]) == pytest.approx(max(possible))
        assert sorted(set(layers[count])) == list(range(count))


def test_eigenvectors_of_a_fit_serve_somewhat_more_clusters(data, monkeypatch):
    from dssc import exploring

    monkeypatch.setattr(exploring, "REUSED_FROM", 300)
    model = ADSSC(6, **GIVEN).fit(data[0])
    monkeypatch.setattr(exploring, "spectral_embedding", None)  # must not be called
    for k in (5, 7, 8, 9):
        assert len(np.unique(model.labels_for(k))) == k
    with pytest.raises(TypeError):
        model.labels_for(10)
    # Eigenvectors that are not accurate are computed again.
    monkeypatch.setattr(exploring, "ACCURATE", 0.0)
    with pytest.raises(TypeError):
        model.labels_for(7)


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_a_graph_in_many_pieces(rng):
    """Nine cliques: fewer clusters than pieces, as many, and more."""
    blocks = block_diagonal([np.ones((n, n)) for n in (12, 11, 10, 10, 9, 8, 8, 7, 2)])
    model = GraphClustering(9, n_neighbors=20, random_state=0).fit(blocks)
    expected = np.repeat(np.arange(9), (12, 11, 10, 10, 9, 8, 8, 7, 2))
    assert adjusted_rand_score(model.labels_, expected) == 1.0
    found = model.explore([3, 9, 12])
    assert found.gaps[0] == 0.0
    assert adjusted_rand_score(found.labels[1], expected) == 1.0
    for labels in found.labels:
        assert labels.min() >= 0
    assert len(np.unique(found.labels[0])) == 3


@pytest.mark.parametrize(
    ("counts", "message"),
    [([], "counts is empty"), ([0], "counts=0"), ([400], "n_clusters=400 must be at most 300")],
)
def test_bad_counts_are_explained(counts, message, data):
    with pytest.raises(ValueError, match=message):
        ADSSC(6, **GIVEN).fit(data[0]).explore(counts)
