import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.engines import CpuEngine
from dssc.pipeline import Settings
from dssc.selection import Given, drawn, search, select
from dssc.selection.drawn import Drawn
from dssc.selection.neighborhoods import ETA1_VALUES

NOTHING = Given(n_clusters=4, eta1=None, signed=None)


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(300, n_subspaces=4, noise=0.3, random_state=0)


@pytest.fixture
def sampled(monkeypatch):
    monkeypatch.setattr(search, "LARGEST_WHOLE", 250)
    monkeypatch.setattr(search, "SAMPLE_SIZE", 200)
    monkeypatch.setattr(drawn, "SAMPLE_PER_CLUSTER", 10)


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
    best, *others = model.candidates_
    assert (best.eta1, best.n_pieces, best.stray_share) == (model.eta1_, 1, 0.0)
    assert best.n_neighbors == pytest.approx(model.n_neighbors_, rel=0.1)
    assert 0.5 < best.modularity < 1.0
    assert len(others) >= 4
    for candidate in others:
        assert candidate.distance >= best.distance
        assert (candidate.n_neighbors, candidate.modularity) == (None, None)
    assert not model.signed_
    assert "a point and its opposite are alike" in model.explanation_
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
    assert len(voters) == 3  # the best quarter of three starts in three embeddings
    np.testing.assert_array_equal(again.labels, voters[0])
    assert adjusted_rand_score(choice.labels, voters[0]) < 1.0
    assert choice.graph.affinity.shape == (300, 300)
    assert choice.embedding.shape == (300, 26)


@pytest.mark.usefixtures("sampled")
def test_large_data_are_judged_by_a_sample(data):
    X, y = data
    choice = choose(X)
    assert (choice.graph, choice.embedding, choice.labels) == (None, None, None)
    best, *others = choice.candidates
    assert 4 <= best.n_neighbors <= 40
    assert (best.n_pieces, {candidate.n_neighbors for candidate in others}) == (None, {None})
    assert choose(X, Given(None, None, None)).count.n_clusters == 4
    model = ADSSC(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    given = ADSSC(4, n_neighbors=6, random_state=0).fit(X)
    assert given.candidates_[0].n_neighbors == 6


@pytest.mark.usefixtures("sampled")
def test_a_sample_of_noise_is_clustered_before_it_is_named(rng):
    with pytest.warns(UserWarning, match="no clusters beyond chance"):
        choice = choose(rng.standard_normal((400, 30)))
    assert choice.candidates[0].modularity is not None
    assert choice.labels is None


@pytest.mark.parametrize(
    ("dimension", "n_clusters", "expected"),
    [(8.0, 4, 12), (0.5, 4, 4), (900.0, 4, 40), (8.0, 40, 7), (8.0, 200, 4), (8.0, None, 12)],
)
def test_neighbors_are_in_proportion_to_the_dimension_but_no_more_than_a_cluster(
    dimension, n_clusters, expected
):
    sample = Drawn(np.ones((300, 2)), None, 300, Settings(), CpuEngine(), None)
    assert sample.n_neighbors(dimension, n_clusters) == expected


@pytest.mark.filterwarnings("ignore:no clusters beyond chance")
def test_data_of_few_dimensions_get_few_neighbors(rng):
    angles = rng.uniform(0.0, np.pi, size=(2, 200))
    circles = np.hstack([np.cos(angles).T, np.sin(angles).T, rng.normal(size=(200, 6)) * 0.01])
    noise = rng.normal(size=(200, 30)) + 3.0
    few, many = (ADSSC(2, random_state=0).fit(X).candidates_[0] for X in (circles, noise))
    assert few.n_neighbors < 8 < many.n_neighbors


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


def test_the_graph_whose_clusters_are_counted_is_clustered(data):
    model = ADSSC(None, random_state=0).fit(data[0])
    assert model.n_clusters_ == 4
    assert [one.n_pieces for one in model.candidates_].count(None) == len(model.candidates_) - 1


@pytest.mark.parametrize("seed", range(3))
def test_shreds_of_curves_are_not_counted(seed):
    # Circles: with few neighbours each falls into arcs.
    options = {"n_subspaces": 12, "dimension": 2, "n_features": 48}
    X, _ = make_union_of_subspaces(600, random_state=seed, **options)
    assert ADSSC(None, random_state=0).fit(X).n_clusters_ == 12


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
