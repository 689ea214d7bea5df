import numpy as np
import pytest
from scipy import sparse

from dssc import ADSSC, LSR, SSCOMP, TSC, clustering_accuracy, make_union_of_subspaces
from dssc.paper import protocol


@pytest.fixture(scope="module")
def points():
    return make_union_of_subspaces(90, random_state=0)


def test_the_mean_is_over_single_runs(points):
    X, y = points
    model = ADSSC(3, eta1=1.0, n_neighbors=12, n_components=3, random_state=0).fit(X)
    scores = protocol.paper_scores(model, y, 5)
    assert scores["ACC"] == scores["NMI"] == scores["fit_ACC"] == 1.0
    assert scores["ACC_std"] == 0.0
    assert scores["SPE"] < 1e-6
    assert scores["NNZ"] == pytest.approx(12, abs=0.5)


def test_seeds_are_plain_ones(rng):
    """One candidate per centre: the first two centres have the distribution of the definition.

    Of three points, two of them close, the second centre is the far one with a known chance.
    """
    points = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    state = np.random.RandomState(0)
    drawn = [set(protocol.first_centers(points, 2, state)[:, 0]) for _ in range(4000)]
    # First 0: 3 with 9/10; first 1: 3 with 4/5; first 3: 0 with 9/13.
    expected = (0.9 + 9 / 13) / 3
    assert np.mean([pair == {0.0, 3.0} for pair in drawn]) == pytest.approx(expected, abs=0.03)


def test_points_without_a_row_go_where_they_are_similar():
    U = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3 + [[0.0, 0.0]] * 2)
    K = np.zeros((8, 8))
    K[6, [0, 1]] = K[[0, 1], 6] = 1.0
    K[7, 4] = K[4, 7] = 1.0
    y = [0, 0, 0, 1, 1, 1, 0, 1]
    for similarity in (K, sparse.csr_array(K)):
        for labels in protocol.label_runs(U, 2, similarity, 3):
            assert clustering_accuracy(y, labels) == 1.0


def test_what_is_judged(points):
    X, _ = points
    for model in (ADSSC(3, random_state=0), TSC(3, random_state=0)):
        assert protocol.judged_matrix(model.fit(X)) is model.affinity_matrix_
    model = LSR(3, random_state=0).fit(X)
    assert protocol.judged_matrix(model) is model.representation_matrix_


def test_table_2_judges_affinities(points):
    X, y = points
    model = SSCOMP(3, n_nonzero_coefs=2, random_state=0).fit(X)
    scores = [protocol.paper_scores(model, y, 1, by_affinity=both) for both in (False, True)]
    assert scores[0]["NNZ"] == 2
    assert scores[1]["NNZ"] == pytest.approx((model.affinity_matrix_ > 1e-9).sum() / len(X))
    assert scores[1]["NNZ"] > 2


def test_the_best_of_ten_starts_beats_single_runs(rng):
    """On twelve groups of points, some of which a single run joins or divides."""
    centers = rng.normal(size=(12, 3))
    U = np.repeat(centers / np.linalg.norm(centers, axis=1, keepdims=True), 15, axis=0)
    U += 0.02 * rng.normal(size=U.shape)
    y = np.repeat(np.arange(12), 15)

    def mean(seeds):
        runs = protocol.label_runs(U, 12, None, 20, seeds)
        return np.mean([clustering_accuracy(y, labels) for labels in runs])

    assert mean("plain") < 0.99
    assert mean("best of ten") == 1.0


def test_the_first_eigenvector_can_be_left_out(rng):
    """A first column that divides the points in another way than the others."""
    y = np.repeat([0, 1], 20)
    U = np.column_stack([np.tile([3.0, -3.0], 20), y, 1 - y]) + 0.01 * rng.normal(size=(40, 3))
    seeds = "best of ten, first eigenvector left out"
    for labels in protocol.label_runs(U, 2, None, 3, seeds):
        assert clustering_accuracy(y, labels) == 1.0
    for labels in protocol.label_runs(U, 2, None, 3, "best of ten"):
        assert clustering_accuracy(y, labels) == 0.5
