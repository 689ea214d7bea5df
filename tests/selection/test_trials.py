from dataclasses import replace

import numpy as np
import pytest

from dssc import make_union_of_subspaces
from dssc.engines import CpuEngine
from dssc.pipeline import Settings
from dssc.selection import trials as trials_module
from dssc.selection.trials import Trial, Trials
from dssc.spectral.modularity import modularity


@pytest.fixture
def trials():
    X, _ = make_union_of_subspaces(200, n_subspaces=4, noise=0.3, random_state=0)
    settings = Settings(eta1=1.0, fading=True)
    return Trials(X, settings, CpuEngine(), np.random.RandomState(0))


def test_clusterings_are_ranked_by_modularity(trials):
    trial = trials.add(6, 4)
    trials.cluster(trial, 4, n_starts=3)
    assert len(trial.labels) == 9
    expected = [modularity(trial.graph.affinity, labels) for labels in trial.labels]
    np.testing.assert_allclose(trial.modularities, expected, atol=1e-6)
    assert np.all(np.diff(trial.modularities) <= 0)
    assert trial.best_modularity == trial.modularities[0]


@pytest.mark.parametrize(("n_components", "widths"), [(None, [10, 4, 10]), (5, [5])])
def test_graphs_are_clustered_in_three_embeddings_unless_one_is_given(
    trials, monkeypatch, n_components, widths
):
    embeddings = []
    real = trials_module.clusterings
    monkeypatch.setattr(
        trials_module,
        "clusterings",
        lambda graph, embedding, *rest: (
            embeddings.append(embedding) or real(graph, embedding, *rest)
        ),
    )
    trials.settings = replace(trials.settings, n_components=n_components)
    trial = trials.add(6, 4)
    trials.cluster(trial, 4, n_starts=1)
    assert [embedding.shape[1] for embedding in embeddings] == widths
    assert trial.embedding is embeddings[0]


def test_a_method_without_chance_clusters_once(trials):
    trials.settings = replace(trials.settings, assign_labels="cluster_qr")
    trial = trials.add(6, 4)
    trials.cluster(trial, 4, n_starts=3)
    assert len(trial.labels) == 1


def test_eigenvectors_of_a_counted_graph_start_from_those_that_counted(trials):
    trial = trials.add(6, None)
    assert trial.count_clusters().n_clusters == 4
    counted = trial.graph.start
    trials.cluster(trial, 4, n_starts=1)
    assert trial.graph.start is counted


def test_components_much_smaller_than_neighborhoods_are_strays():
    pieces = np.array([50, 30, 10, 6, 4])
    assert Trial(10, None, pieces).stray_share == 0.1
    assert Trial(5, None, pieces).stray_share == 0.0
    assert Trial(None, None, pieces).stray_share == 0.0


def with_strays(trials, monkeypatch, strays):
    """Let graphs have as many pairs of strays among 1,000 points as a function says."""

    def add(n_neighbors, n_clusters):
        n_pairs = strays(n_neighbors)
        pieces = np.array([1000 - 2 * n_pairs, *[2] * n_pairs])
        trials.trials.append(Trial(n_neighbors, None, pieces))
        return trials.trials[-1]

    monkeypatch.setattr(trials, "add", add)


def test_graphs_grow_until_few_points_are_left_out(trials, monkeypatch):
    with_strays(trials, monkeypatch, lambda n_neighbors: max(0, 14 - n_neighbors))
    assert trials.add_connected(6, 40, 4).n_neighbors == 13
    assert [trial.n_neighbors for trial in trials.trials] == [6, 9, 13]
    assert trials.add_connected(6, 40, None).n_neighbors == 13


def test_graphs_grow_until_they_have_no_more_components_than_clusters(trials, monkeypatch):
    with_strays(trials, monkeypatch, lambda n_neighbors: 2 if n_neighbors < 9 else 1)
    assert trials.add_connected(6, 40, 3).n_neighbors == 6
    assert trials.add_connected(6, 40, 2).n_neighbors == 9
    assert trials.add_connected(6, 40, None).n_neighbors == 6


def test_points_that_no_graph_connects_do_not_make_it_denser(trials, monkeypatch):
    with_strays(trials, monkeypatch, lambda n_neighbors: 20)
    assert trials.add_connected(6, 20, 4).n_neighbors == 6
    assert [trial.n_neighbors for trial in trials.trials] == [6, 9, 13, 19, 20]
