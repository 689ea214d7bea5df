import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from dssc.selection.criteria import (
    DIMENSION,
    mean_agreement,
    pairwise_agreements,
    ranked,
    subspace_residuals,
    voted,
)


def test_agreement_is_the_adjusted_rand_index(rng):
    labels = list(rng.integers(0, 3, (4, 50)))
    labels[1] = (labels[0] + 1) % 3
    labels.append(np.zeros(50, dtype=int))
    agreements = pairwise_agreements(labels, 3)
    for i, one in enumerate(labels):
        for j, two in enumerate(labels):
            expected = adjusted_rand_score(one, two) if i != j else 0.0
            assert agreements[i, j] == pytest.approx(expected, abs=1e-12)
    assert pairwise_agreements([labels[-1]] * 2, 3)[0, 1] == 1.0
    assert mean_agreement(labels, 3) == pytest.approx(agreements.sum() / 20, abs=1e-6)
    assert mean_agreement(labels[:1], 3) == 1.0


def test_ranks_are_added_and_torn_graphs_come_last():
    modularities, residuals = [0.9, 0.8, 0.7, 0.8], [0.1, 0.4, 0.2, 0.3]
    # Ranks: 0 + 0 (torn), 1 + 3, 3 + 1, 1 + 2; of equal sums the higher modularity is first.
    torn = np.array([True, False, False, False])
    assert ranked(modularities, residuals, torn) == [3, 1, 2, 0]
    assert ranked(modularities, residuals, np.zeros(4, dtype=bool))[0] == 0


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


def test_residuals_are_distances_from_the_best_subspaces(rng):
    X = rng.standard_normal((60, 16))
    labels = [rng.integers(0, 3, 60), rng.integers(0, 2, 60)]
    labels.append((labels[0] + 1) % 3)  # the same clusters
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    for labelling, residual in zip(labels, subspace_residuals(X, labels, 3), strict=True):
        expected = 0.0
        for label in range(3):
            members = unit[labelling == label]
            left, values, right = np.linalg.svd(members, full_matrices=False)
            nearest = (left[:, :DIMENSION] * values[:DIMENSION]) @ right[:DIMENSION]
            expected += np.sum((members - nearest) ** 2)
        assert residual == pytest.approx(expected / 60, abs=1e-6)
