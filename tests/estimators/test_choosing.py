from itertools import product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.estimators import choosing
from dssc.estimators.choosing import (
    Candidate,
    Trials,
    mean_agreement,
    pairwise_agreements,
    ranked,
    residuals,
    voted,
)
from dssc.estimators.subspaces import squared_residual
from dssc.spectral.modularity import modularity


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(300, n_subspaces=4, noise=0.3, random_state=0)


def test_the_default_tries_all_candidates_and_says_which_it_took(data):
    X, y = data
    model = ADSSC(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    tried = {(c.eta1, c.n_neighbors) for c in model.candidates_}
    expected = set(product(choosing.ETA1, choosing.FIRST_COUNTS))
    expected |= set(product([model.eta1_], choosing.MORE_COUNTS))
    assert tried == expected
    assert len(model.candidates_) == len(expected)
    assert model.eta1_ == model.candidates_[0].eta1
    for candidate in model.candidates_:
        assert (candidate.modularity is not None) == (candidate.eta1 == model.eta1_)
        assert (candidate.residual is not None) == (candidate.eta1 == model.eta1_)
    same = ADSSC(
        4, eta1=model.eta1_, n_neighbors=model.candidates_[0].n_neighbors, random_state=0
    ).fit(X)
    assert model.eta2_ == same.eta2_
    # The same optimum; the search before it started elsewhere.
    assert abs(model.affinity_matrix_ - same.affinity_matrix_).max() < 1e-9
    assert len(same.candidates_) == 1


def test_the_choice_does_not_depend_on_the_seed(data):
    one, two = (ADSSC(4, random_state=seed, n_init=2).fit(data[0]) for seed in (0, 1))
    assert one.candidates_ == two.candidates_
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_the_eta1_is_taken_with_which_starts_agree(data, monkeypatch):
    X, y = data
    real = choosing._clusterings

    def unstable_but_for_one(trial, X):
        labels = real(trial, X)
        if trial.eta1 == 10.0:
            return labels
        rng = np.random.default_rng(int(trial.n_neighbors))
        return [np.where(rng.random(300) < 0.2, rng.integers(0, 4, 300), some) for some in labels]

    monkeypatch.setattr(choosing, "_clusterings", unstable_but_for_one)
    model = ADSSC(4).fit(X)
    assert model.eta1_ == 10.0
    assert model.candidates_[0].stability > max(
        c.stability for c in model.candidates_ if c.eta1 != 10.0
    )
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_the_clustering_that_won_is_kept(monkeypatch):
    # Data on which every start of k-means ends elsewhere.
    X, _ = make_union_of_subspaces(
        300, n_subspaces=12, dimension=4, n_features=12, noise=1.0, random_state=0
    )
    model = ADSSC(12, random_state=0).fit(X)
    found = choosing.choose(ADSSC(12), X)
    assert found.candidates == model.candidates_
    np.testing.assert_array_equal(found.labels, model.labels_)
    given = {"eta1": model.eta1_, "n_neighbors": model.candidates_[0].n_neighbors}
    other = ADSSC(12, **given, n_init=1, random_state=1).fit(X)
    assert adjusted_rand_score(found.labels, other.labels_) < 0.9

    monkeypatch.setattr(choosing, "SAMPLE", 250)
    monkeypatch.setattr(choosing, "PER_CLUSTER", 10)
    model = ADSSC(12, random_state=0).fit(X)
    found = choosing.choose(ADSSC(12), X)
    assert len(found.labels) == 250
    given = {"eta1": model.eta1_, "n_neighbors": model.candidates_[0].n_neighbors}
    same = ADSSC(12, **given, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)


def test_given_values_win(data):
    X, _ = data
    model = ADSSC(4, eta1=2.5, random_state=0).fit(X)
    assert model.eta1_ == 2.5
    assert {c.eta1 for c in model.candidates_} == {2.5}
    model = ADSSC(4, n_neighbors=7, random_state=0).fit(X)
    assert {c.n_neighbors for c in model.candidates_} == {7}
    model = ADSSC(4, eta2=0.02, random_state=0).fit(X)
    assert (model.eta1_, model.eta2_) == (1.0, 0.02)
    model = ADSSC(4, eta2="components", random_state=0).fit(X)
    assert {c.eta1 for c in model.candidates_} == set(choosing.ETA1)


def test_large_data_are_judged_by_a_sample(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(choosing, "SAMPLE", 200)
    model = ADSSC(4, random_state=0).fit(X)
    found = sorted({c.eta1 for c in model.candidates_})
    np.testing.assert_allclose(found, 1.5 * np.sort(choosing.ETA1))
    growth = np.log(300) / np.log(200)
    counts = (*choosing.FIRST_COUNTS, *choosing.MORE_COUNTS)
    counts = {round(count * growth) for count in counts}
    assert {c.n_neighbors for c in model.candidates_} == counts
    given = ADSSC(4, n_neighbors=6, random_state=0).fit(X)
    assert {c.n_neighbors for c in given.candidates_} == {6}
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_a_zero_row_is_named_by_its_own_number(data, monkeypatch):
    monkeypatch.setattr(choosing, "SAMPLE", 200)
    X = data[0].copy()
    X[280] = 0.0
    with pytest.raises(ValueError, match="280"):
        ADSSC(4).fit(X)


def test_a_warm_start_chooses_once(data, monkeypatch):
    X, _ = data
    calls = []
    choose = choosing.choose
    monkeypatch.setattr("dssc.estimators.adssc.choose", lambda *a: calls.append(1) or choose(*a))
    model = ADSSC(4, warm_start=True, random_state=0).fit(X)
    model.set_params(n_init=3).fit(X)
    assert len(calls) == 1
    model.set_params(n_clusters=3).fit(X)
    assert len(calls) == 2


def test_agreement_is_the_adjusted_rand_index(rng):
    labels = list(rng.integers(0, 3, (4, 50)))
    labels[1] = (labels[0] + 1) % 3
    labels.append(np.zeros(50, dtype=int))
    found = pairwise_agreements(labels, 3)
    for i, one in enumerate(labels):
        for j, two in enumerate(labels):
            expected = adjusted_rand_score(one, two) if i != j else 0.0
            assert found[i, j] == pytest.approx(expected, abs=1e-12)
    assert pairwise_agreements([labels[-1]] * 2, 3)[0, 1] == 1.0
    assert mean_agreement(labels, 3) == pytest.approx(found.sum() / 20, abs=1e-6)
    assert mean_agreement(labels[:1], 3) == 1.0


def test_ranks_are_added_and_torn_graphs_come_last():
    modularities, distances = [0.9, 0.8, 0.7, 0.8], [0.1, 0.4, 0.2, 0.3]
    # Ranks: 0 + 0 (torn), 1 + 3, 3 + 1, 1 + 2; of the equal sums the higher modularity is first.
    assert ranked(modularities, distances, [True, False, False, False]) == [3, 1, 2, 0]
    assert ranked(modularities, distances, [False] * 4)[0] == 0


def test_a_vote_goes_by_clusters_whatever_their_names(rng):
    truth = rng.integers(0, 4, 200)
    ballots = []
    for some in np.array_split(rng.permutation(200)[:150], 5):  # each errs on points of its own
        wrong = truth.copy()
        wrong[some] = rng.integers(0, 4, len(some))
        ballots.append(rng.permutation(4)[wrong])
    outcome = voted(ballots, 4)
    assert adjusted_rand_score(truth, outcome) == 1.0
    assert max(adjusted_rand_score(truth, some) for some in ballots) < 1.0
    # Names are those of the first, and it decides where votes are equal.
    np.testing.assert_array_equal(voted([ballots[0], ballots[1]], 4), ballots[0])
    np.testing.assert_array_equal(voted(ballots[:1], 4), ballots[0])


def test_no_cluster_is_voted_away():
    one = np.array([0, 0, 0, 0, 1, 1, 2])
    others = [np.array([0, 0, 0, 2, 1, 1, 1]), np.array([0, 0, 2, 0, 1, 1, 1])]
    np.testing.assert_array_equal(voted([one, *others], 3), one)


def test_agreement_on_next_to_nothing_does_not_speak_for_an_eta1(data):
    # Where a stray point is a piece, every start finds it, and nothing else.
    strays, clusters = (Trials(ADSSC(2), data[0], eta1, 1.0, 1.0) for eta1 in (0.1, 1.0))
    strays.candidates, strays.found = [Candidate(0.1, 12, 1.0, 2)], [0.01]
    clusters.candidates, clusters.found = [Candidate(1.0, 12, 0.8, 1)], [0.45]
    assert clusters.standing > strays.standing
    clusters.candidates = [Candidate(1.0, 12, 0.8, 3)]  # torn
    assert clusters.standing < strays.standing


@pytest.mark.filterwarnings("ignore:the affinity has")
def test_a_clustering_is_judged_in_all_graphs_of_its_eta1(data):
    X, _ = data
    model = ADSSC(4, eta1=1.0).fit(X)
    best = model.candidates_[0]
    counts = (*choosing.FIRST_COUNTS, *choosing.MORE_COUNTS)
    graphs = [ADSSC(4, eta1=1.0, n_neighbors=q).fit(X).affinity_matrix_ for q in counts]
    expected = np.mean([modularity(graph, model.labels_) for graph in graphs])
    assert best.modularity == pytest.approx(expected, abs=1e-5)
    assert best.residual == residuals(X, [model.labels_], 4)[0]


def test_more_starts_where_the_clustering_is_kept(data, monkeypatch):
    X, _ = data
    real, seeds = choosing._from_starts, []

    def noted(trial, embedding, some):
        seeds.append(list(some))
        return real(trial, embedding, some)

    monkeypatch.setattr(choosing, "_from_starts", noted)
    choosing.choose(ADSSC(4, eta1=1.0), X)
    first, further = list(range(1, choosing.STARTS)), list(range(8, choosing.MORE_STARTS))
    assert seeds == [first] * 4 + [further] * 4
    seeds.clear()
    monkeypatch.setattr(choosing, "SAMPLE", 250)
    choosing.choose(ADSSC(4, eta1=1.0), X)
    assert seeds == [first] * 4


def test_residual_is_the_distance_from_the_best_subspaces(rng):
    X = rng.standard_normal((60, 16))
    labels = [rng.integers(0, 3, 60), rng.integers(0, 2, 60)]
    labels.append((labels[0] + 1) % 3)  # the same clusters
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for some, found in zip(labels, residuals(X, labels, 3), strict=True):
        expected = 0.0
        for label in range(3):
            left, values, right = np.linalg.svd(unit[some == label], full_matrices=False)
            rank = choosing.DIMENSION
            near = (left[:, :rank] * values[:rank]) @ right[:rank]
            expected += np.sum((unit[some == label] - near) ** 2)
        assert found == pytest.approx(expected / 60, abs=1e-6)
    assert squared_residual(X, 16) == squared_residual(X[:5], 5) == 0.0
