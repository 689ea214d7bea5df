import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dssc.selection.criteria import HELD_SHARE, held_out_residual, voted


def test_a_vote_is_by_clusters_whatever_their_numbers(rng):
    truth = rng.integers(0, 4, 200)
    ballots = []
    for part in np.array_split(rng.permutation(200)[:150], 5):  # each errs on other points
        wrong = truth.copy()
        wrong[part] = rng.integers(0, 4, len(part))
        ballots.append(rng.permutation(4)[wrong])
    outcome = voted(ballots, 4)
    assert adjusted_rand_score(truth, outcome) == 1.0
    assert max(adjusted_rand_score(truth, ballot) for ballot in ballots) < 1.0
    # Clusters are numbered as in the first ballot, which decides where votes are equal.
    np.testing.assert_array_equal(voted([ballots[0], ballots[1]], 4), ballots[0])
    np.testing.assert_array_equal(voted(ballots[:1], 4), ballots[0])


def test_no_cluster_is_voted_away():
    one = np.array([0, 0, 0, 0, 1, 1, 2])
    others = [np.array([0, 0, 0, 2, 1, 1, 1]), np.array([0, 0, 2, 0, 1, 1, 1])]
    np.testing.assert_array_equal(voted([one, *others], 3), one)


DIMENSION = 12


@pytest.mark.parametrize("n_features", [16, 200])
def test_a_residual_is_the_distance_of_held_out_points_from_subspaces(rng, n_features):
    X = rng.standard_normal((240, n_features))
    labels = rng.integers(0, 3, 240)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    order = np.random.default_rng(0).permutation(240)
    held = order[::HELD_SHARE]
    rest = np.setdiff1d(order, held)
    expected = 0.0
    for label in range(3):
        basis = np.linalg.svd(unit[rest[labels[rest] == label]])[2][:DIMENSION]
        points = unit[held[labels[held] == label]]
        expected += np.sum((points - points @ basis.T @ basis) ** 2)
    assert held_out_residual(X, labels, 3, DIMENSION) == pytest.approx(
        expected / len(held), rel=1e-9
    )


def test_points_of_a_subspace_have_no_residual_and_single_points_have_a_large_one(rng):
    X = np.concatenate([rng.standard_normal((50, 3)) @ rng.standard_normal((3, 30)) for _ in "ab"])
    assert held_out_residual(X, np.repeat([0, 1], 50), 2, DIMENSION) == pytest.approx(
        0.0, abs=1e-12
    )
    # Clusters of one point are perfect for the point that defines them, not for one held out.
    X = rng.standard_normal((100, 30))
    assert held_out_residual(X, np.arange(100), 100, DIMENSION) == 1.0
