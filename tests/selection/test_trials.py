import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.engines import CpuEngine
from dssc.pipeline import Settings
from dssc.selection import Candidate, search, select
from dssc.selection.criteria import subspace_residuals
from dssc.selection.search import FIRST_COUNTS, MORE_COUNTS
from dssc.selection.trials import MORE_STARTS, STARTS, Trials
from dssc.spectral.modularity import modularity


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(300, n_subspaces=4, noise=0.3, random_state=0)


def test_agreement_on_a_stray_point_does_not_count_for_an_eta1(data):
    # Where a stray point is a component, every start finds it, and nothing else.
    strays, clusters = (
        Trials(data[0], 2, Settings(eta1=eta1), CpuEngine(), eta1, 1.0) for eta1 in (0.1, 1.0)
    )
    strays.candidates, strays.modularities = [Candidate(0.1, 12, 1.0, 2)], [0.01]
    clusters.candidates, clusters.modularities = [Candidate(1.0, 12, 0.8, 1)], [0.45]
    assert clusters.score > strays.score
    clusters.candidates = [Candidate(1.0, 12, 0.8, 3)]  # torn
    assert clusters.score < strays.score


@pytest.mark.filterwarnings("ignore:the affinity has")
def test_a_clustering_is_judged_in_all_graphs_of_its_eta1(data):
    X, _ = data
    model = ADSSC(4, eta1=1.0).fit(X)
    best = model.candidates_[0]
    counts = (*FIRST_COUNTS, *MORE_COUNTS)
    graphs = [ADSSC(4, eta1=1.0, n_neighbors=q).fit(X).affinity_matrix_ for q in counts]
    expected = np.mean([modularity(graph, model.labels_) for graph in graphs])
    assert best.modularity == pytest.approx(expected, abs=1e-5)
    assert best.residual == subspace_residuals(X, [model.labels_], 4)[0]


def test_all_points_are_clustered_from_more_starts_than_a_sample(data, monkeypatch):
    X, _ = data
    cluster_from_starts, seeds = Trials._from_starts, []

    def noted(trials, number, some_seeds):
        seeds.append(list(some_seeds))
        return cluster_from_starts(trials, number, some_seeds)

    monkeypatch.setattr(Trials, "_from_starts", noted)
    settings, engine = Settings(fading=True), CpuEngine()
    select(X, 4, settings, engine, eta1=1.0)
    first, further = list(range(1, STARTS)), list(range(STARTS, MORE_STARTS))
    assert seeds == [first] * 4 + [further] * 4
    seeds.clear()
    monkeypatch.setattr(search, "SAMPLE_SIZE", 250)
    select(X, 4, settings, engine, eta1=1.0)
    assert seeds == [first] * 4


def test_released_trials_keep_only_what_is_reported(data):
    trials = Trials(data[0], 4, Settings(), CpuEngine(), 1.0, 1.0)
    trials.add((6,))
    assert trials.expression is not None
    candidates, score = list(trials.candidates), trials.score
    trials.release()
    assert trials.expression is None
    assert trials.graphs == trials.embeddings == trials.labels == []
    assert (trials.candidates, trials.score) == (candidates, score)
