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


def cut_of(A, labels):
    parts = [labels == cluster for cluster in np.unique(labels)]
    return np.mean([A[part][:, ~part].sum() / A[part].sum() for part in parts])


def test_every_clustering_is_judged_in_the_mean_of_all_graphs(trials):
    for n_neighbors in (6, 12):
        trials.add(n_neighbors, 4)
    trials.cluster(4, n_starts=3)
    mean = sum(trial.graph.affinity for trial in trials.trials) / 2
    for trial in trials.trials:
        expected = [modularity(mean, labels) for labels in trial.labels]
        np.testing.assert_allclose(trial.modularities, expected, atol=1e-6)
        inside = [cut_of(mean.toarray(), labels) for labels in trial.labels]
        np.testing.assert_allclose(trial.cuts, inside, atol=1e-6)


@pytest.mark.parametrize(("n_components", "widths"), [(None, [10, 4, 10]), (5, [5, 5, 5])])
def test_every_second_start_leaves_out_eigenvectors_that_fade(
    trials, monkeypatch, n_components, widths
):
    embeddings = []
    real = trials_module.assign
    monkeypatch.setattr(
        trials_module,
        "assign",
        lambda graph, embedding, *rest: (
            embeddings.append(embedding) or real(graph, embedding, *rest)
        ),
    )
    trials.settings = replace(trials.settings, n_components=n_components)
    trials.add(6, 4)
    trials.cluster(4, n_starts=3)
    assert [embedding.shape[1] for embedding in embeddings] == widths


def test_ranks_are_added_and_torn_graphs_come_last(trials):
    def trial(modularities, cuts, n_pieces=1):
        labels = [np.full(1, value) for value in modularities]  # stand for clusterings
        return Trial(6, None, n_pieces, None, labels, np.array(modularities), np.array(cuts))

    # Ranks of the first graph 0 + 2 and 3 + 3, of the second 1 + 0 and 2 + 1.
    trials.trials = [trial([0.9, 0.6], [0.3, 0.4]), trial([0.8, 0.7], [0.1, 0.2])]
    assert [entry.labels[0] for entry in trials.ranked_clusterings(4)] == [0.8, 0.9, 0.7, 0.6]
    trials.trials = [trial([0.9], [0.1], n_pieces=5), trial([0.2], [0.3])]
    assert [entry.labels[0] for entry in trials.ranked_clusterings(4)] == [0.2, 0.9]
    assert [entry.labels[0] for entry in trials.ranked_clusterings(5)] == [0.9, 0.2]
