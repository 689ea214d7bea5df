import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.engines import CpuEngine
from dssc.pipeline import Settings
from dssc.selection import Given, search, select
from dssc.selection.neighborhoods import ETA1_VALUES
from dssc.selection.search import N_NEIGHBORS

NOTHING = Given(n_clusters=4, eta1=None, signed=None)


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(300, n_subspaces=4, noise=0.3, random_state=0)


@pytest.fixture
def sampled(monkeypatch):
    monkeypatch.setattr(search, "LARGEST_WHOLE", 250)
    monkeypatch.setattr(search, "SAMPLE_SIZE", 200)
    monkeypatch.setattr(search, "SAMPLE_PER_CLUSTER", 10)


def unclear():
    """Return data on which every start of k-means ends elsewhere."""
    options = {"n_subspaces": 12, "dimension": 4, "n_features": 12, "noise": 1.0}
    return make_union_of_subspaces(300, random_state=0, **options)[0]


def choose(X, given=NOTHING):
    settings = Settings(fading=True, n_init=3)
    return select(X, given, settings, CpuEngine(), np.random.RandomState(0))


def test_the_default_says_what_it_tried_and_what_it_took(data):
    X, y = data
    model = ADSSC(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    graphs, others = model.candidates_[:3], model.candidates_[3:]
    assert {candidate.n_neighbors for candidate in graphs} == set(N_NEIGHBORS)
    assert {candidate.eta1 for candidate in graphs} == {model.eta1_}
    assert len(others) >= 4
    for candidate in others:
        assert candidate.distance >= graphs[0].distance
        assert (candidate.n_neighbors, candidate.modularity) == (None, None)
    assert not model.signed_
    assert "a point and its opposite are alike" in model.explanation_
    best = model.candidates_[0]
    given = {"eta1": best.eta1, "n_neighbors": best.n_neighbors, "signed": best.signed}
    same = ADSSC(4, **given, random_state=0).fit(X)
    assert model.eta2_ == pytest.approx(same.eta2_, rel=0.05)
    assert (len(same.candidates_), same.explanation_) == (1, "")


@pytest.mark.filterwarnings("ignore:no clusters beyond chance")
def test_labels_are_the_vote_unless_only_a_sample_was_clustered(monkeypatch):
    X = unclear()
    given = Given(12, None, None)
    choice = choose(X, given)
    voters = []
    monkeypatch.setattr(search, "voted", lambda labels, k: voters.extend(labels) or labels[0])
    again = choose(X, given)
    assert len(voters) == 5  # the better half of three graphs with three starts
    np.testing.assert_array_equal(again.labels, voters[0])
    assert adjusted_rand_score(choice.labels, voters[0]) < 1.0
    assert choice.graph.affinity.shape == (300, 300)
    assert choice.embedding.shape == (300, 26)


@pytest.mark.usefixtures("sampled")
def test_large_data_are_judged_by_a_sample(data):
    X, y = data
    choice = choose(X)
    assert (choice.graph, choice.embedding, choice.labels) == (None, None, None)
    usual = round(12 * np.log(300) / np.log(200))
    assert [c.n_neighbors for c in choice.candidates if c.n_neighbors] == [usual]
    assert choose(X, Given(None, None, None)).count.n_clusters == 4
    model = ADSSC(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    given = ADSSC(4, n_neighbors=6, random_state=0).fit(X)
    assert given.candidates_[0].n_neighbors == 6


@pytest.mark.usefixtures("sampled")
def test_a_sample_of_noise_is_clustered_before_it_is_named(rng):
    with pytest.warns(UserWarning, match="no clusters beyond chance"):
        choice = choose(rng.standard_normal((400, 30)))
    growth = np.log(400) / np.log(200)
    counts = {round(count * growth) for count in N_NEIGHBORS}
    assert {c.n_neighbors for c in choice.candidates if c.n_neighbors} == counts


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_sparse_data_of_any_scale_are_chosen_for(data, scale):
    X, y = data
    model = ADSSC(4, random_state=0).fit(sparse.csr_array(scale * X))
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_given_values_win(data):
    X, _ = data
    model = ADSSC(4, eta1=2.5, random_state=0).fit(X)
    assert {c.eta1 for c in model.candidates_} == {model.eta1_} == {2.5}
    model = ADSSC(4, n_neighbors=7, random_state=0).fit(X)
    assert {c.n_neighbors for c in model.candidates_} == {7, None}
    model = ADSSC(4, signed=True, random_state=0).fit(X)
    assert model.signed_
    model = ADSSC(4, eta2=0.02, random_state=0).fit(X)
    assert (model.eta1_, model.eta2_, model.signed_) == (1.0, 0.02, False)
    model = ADSSC(4, eta2="components", random_state=0).fit(X)
    assert model.eta1_ in {0.3 * value for value in ETA1_VALUES}


@pytest.mark.filterwarnings("ignore:no clusters beyond chance")
def test_n_init_starts_and_the_seed_have_an_effect():
    X = unclear()
    one, same, other, more = (
        ADSSC(12, random_state=seed, n_init=n_init).fit_predict(X)
        for seed, n_init in ((0, 2), (0, 2), (1, 2), (0, 5))
    )
    np.testing.assert_array_equal(one, same)
    assert adjusted_rand_score(one, other) < 1.0
    assert adjusted_rand_score(one, more) < 1.0


@pytest.mark.usefixtures("sampled")
def test_a_zero_row_is_named_by_its_number_in_the_data(data):
    X = data[0].copy()
    X[280] = 0.0
    with pytest.raises(ValueError, match="280"):
        ADSSC(4).fit(X)


def test_a_warm_start_chooses_once(data, monkeypatch):
    X, _ = data
    calls = []
    monkeypatch.setattr("dssc.estimators.adssc.select", lambda *a: calls.append(1) or select(*a))
    model = ADSSC(4, warm_start=True, random_state=0).fit(X)
    model.fit(X)
    assert len(calls) == 1
    model.set_params(n_clusters=3).fit(X)
    assert len(calls) == 2


def test_clusters_with_a_common_mean_are_counted():
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(20, 384))
    y = rng.integers(0, 20, 2000)
    X = centers[y] * 0.6 + rng.normal(size=(2000, 384)) * 0.9 + rng.normal(size=384) * 2
    model = ADSSC(None, random_state=0).fit(X)
    assert model.n_clusters_ == 20
    assert model.cluster_evidence_ > 1.5
    assert clustering_accuracy(y, model.labels_) == 1.0


def test_noise_is_named():
    X = np.random.default_rng(5).normal(size=(1000, 20))
    with pytest.warns(UserWarning, match="no clusters beyond chance"):
        ADSSC(10, random_state=0).fit(X)


@pytest.mark.parametrize("n", [12, 20, 40])
def test_small_data_have_defaults_too(n):
    X, y = make_union_of_subspaces(n, n_subspaces=2, dimension=2, n_features=20, random_state=0)
    assert clustering_accuracy(y, ADSSC(2, random_state=0).fit_predict(X)) >= 0.9


@pytest.mark.parametrize(
    ("eta1", "words"), [(0.01, "by subspace"), (3.0, "by direction and by"), (np.inf, "angle")]
)
def test_the_explanation_names_the_end_that_was_taken(data, eta1, words):
    assert words in choose(data[0], Given(4, eta1, True)).explanation
