from itertools import product

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.engines import CpuEngine
from dssc.pipeline import Settings
from dssc.selection import search, select
from dssc.selection.search import ETA1_VALUES, FIRST_COUNTS, MORE_COUNTS
from dssc.selection.trials import Trials


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(300, n_subspaces=4, noise=0.3, random_state=0)


def test_the_default_tries_all_candidates_and_says_which_it_took(data):
    X, y = data
    model = ADSSC(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    tried = {(c.eta1, c.n_neighbors) for c in model.candidates_}
    expected = set(product(ETA1_VALUES, FIRST_COUNTS))
    expected |= set(product([model.eta1_], MORE_COUNTS))
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


def test_the_eta1_for_which_starts_agree_is_taken(data, monkeypatch):
    X, y = data
    cluster = Trials._cluster

    def unstable_except_for_one_eta1(trials, count):
        affinity, labels = cluster(trials, count)
        if trials.eta1 == 10.0:
            return affinity, labels
        rng = np.random.default_rng(count)
        return affinity, [
            np.where(rng.random(300) < 0.2, rng.integers(0, 4, 300), one_start)
            for one_start in labels
        ]

    monkeypatch.setattr(Trials, "_cluster", unstable_except_for_one_eta1)
    model = ADSSC(4).fit(X)
    assert model.eta1_ == 10.0
    assert model.candidates_[0].stability > max(
        c.stability for c in model.candidates_ if c.eta1 != 10.0
    )
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_labels_are_the_vote_unless_only_a_sample_was_clustered(monkeypatch):
    # Data on which every start of k-means ends elsewhere.
    X, _ = make_union_of_subspaces(
        300, n_subspaces=12, dimension=4, n_features=12, noise=1.0, random_state=0
    )
    settings, engine = Settings(fading=True), CpuEngine()
    model = ADSSC(12, random_state=0).fit(X)
    choice = select(X, 12, settings, engine)
    assert choice.candidates == model.candidates_
    assert choice.best == model.candidates_[0]
    assert choice.expression is not None
    np.testing.assert_array_equal(choice.labels, model.labels_)
    given = {"eta1": model.eta1_, "n_neighbors": model.candidates_[0].n_neighbors}
    other = ADSSC(12, **given, n_init=1, random_state=1).fit(X)
    assert adjusted_rand_score(choice.labels, other.labels_) < 0.9

    monkeypatch.setattr(search, "SAMPLE_SIZE", 250)
    monkeypatch.setattr(search, "SAMPLE_PER_CLUSTER", 10)
    model = ADSSC(12, random_state=0).fit(X)
    choice = select(X, 12, settings, engine)
    assert choice.candidates == model.candidates_
    assert choice.labels is None
    assert choice.expression is None
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
    assert {c.eta1 for c in model.candidates_} == set(ETA1_VALUES)


def test_large_data_are_judged_by_a_sample(data, monkeypatch):
    X, y = data
    monkeypatch.setattr(search, "SAMPLE_SIZE", 200)
    model = ADSSC(4, random_state=0).fit(X)
    tried = sorted({c.eta1 for c in model.candidates_})
    np.testing.assert_allclose(tried, 1.5 * np.sort(ETA1_VALUES))
    growth = np.log(300) / np.log(200)
    counts = {round(count * growth) for count in (*FIRST_COUNTS, *MORE_COUNTS)}
    assert {c.n_neighbors for c in model.candidates_} == counts
    given = ADSSC(4, n_neighbors=6, random_state=0).fit(X)
    assert {c.n_neighbors for c in given.candidates_} == {6}
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_a_zero_row_is_named_by_its_number_in_the_data(data, monkeypatch):
    monkeypatch.setattr(search, "SAMPLE_SIZE", 200)
    X = data[0].copy()
    X[280] = 0.0
    with pytest.raises(ValueError, match="280"):
        ADSSC(4).fit(X)


def test_a_warm_start_chooses_once(data, monkeypatch):
    X, _ = data
    calls = []
    monkeypatch.setattr("dssc.estimators.adssc.select", lambda *a: calls.append(1) or select(*a))
    model = ADSSC(4, warm_start=True, random_state=0).fit(X)
    model.set_params(n_init=3).fit(X)
    assert len(calls) == 1
    model.set_params(n_clusters=3).fit(X)
    assert len(calls) == 2
