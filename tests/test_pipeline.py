import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from dssc import ADSSC, make_union_of_subspaces
from dssc._progress import Progress
from dssc.engines import CpuEngine
from dssc.pipeline import Settings, affinity_graph, assign, embed, express
from dssc.selection import Given, search, select

ENGINE, QUIET = CpuEngine(), Progress()


@pytest.fixture(scope="module")
def X():
    return make_union_of_subspaces(300, n_subspaces=4, noise=0.3, random_state=0)[0]


def run(X, n_clusters, settings, seed=0):
    """Return the graph, the embedding and the labels of one run, step by step."""
    rng = check_random_state(seed)
    expression = express(X, settings, ENGINE, QUIET)
    graph = affinity_graph(expression, n_clusters, settings, QUIET)
    embedding = embed(graph, n_clusters, settings, ENGINE, rng, QUIET)
    labels = assign(graph, embedding, n_clusters, settings, ENGINE, rng, QUIET)
    return graph, embedding, labels


@pytest.mark.parametrize(
    "given",
    [
        {"eta1": 0.5, "n_neighbors": 8},
        {"eta1": 0.5, "eta2": 0.02, "symmetric": False},
        {"eta1": 0.5, "eta2": "components", "n_init": 3},
        {"eta1": 0.1, "eta2": 0.1, "eta3": 0.05, "n_components": 4},
        {"eta1": 0.5, "n_neighbors": 8, "assign_labels": "cluster_qr"},
    ],
)
def test_a_fit_is_the_four_steps(given, X):
    model = ADSSC(4, **given, random_state=0).fit(X)
    graph, embedding, labels = run(X, 4, Settings(fading=True, **given))
    np.testing.assert_array_equal(
        model.affinity_matrix_.toarray(), graph.affinity.toarray(), strict=True
    )
    np.testing.assert_array_equal(model.embedding_, embedding, strict=True)
    np.testing.assert_array_equal(model.labels_, labels, strict=True)
    C = graph.expression.coefficients(graph.projection)
    assert abs(model.representation_matrix_ - C).max() == 0
    assert model.eta2_ == graph.projection.eta2


def test_without_fading_there_are_as_many_eigenvectors_as_clusters(X):
    graph, embedding, _ = run(X, 4, Settings(n_neighbors=8))
    assert embedding.shape == (300, 4)
    faded = embed(graph, 4, Settings(fading=True), ENGINE, check_random_state(0), QUIET)
    assert faded.shape == (300, 10)


def test_labels_of_chosen_parameters_are_the_vote(X):
    model = ADSSC(4, random_state=0).fit(X)
    nothing = Given(n_clusters=4, eta1=None, signed=None)
    choice = select(X, nothing, Settings(fading=True), ENGINE, check_random_state(0))
    np.testing.assert_array_equal(model.labels_, choice.labels, strict=True)


def test_labels_after_a_choice_on_a_sample_are_k_means_of_the_embedding(X, monkeypatch):
    monkeypatch.setattr(search, "LARGEST_WHOLE", 250)
    monkeypatch.setattr(search, "SAMPLE_SIZE", 200)
    model = ADSSC(4, random_state=0).fit(X)
    best = model.candidates_[0]
    settings = Settings(
        fading=True, eta1=best.eta1, n_neighbors=best.n_neighbors, signed=best.signed
    )
    graph, _, labels = run(X, 4, settings)
    assert abs(model.affinity_matrix_ - graph.affinity).max() == 0
    assert adjusted_rand_score(model.labels_, labels) == 1.0
