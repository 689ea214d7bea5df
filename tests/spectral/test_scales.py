import numpy as np
import pytest
from scipy import sparse

from dssc.spectral.clusterings import SpectralClusterings
from dssc.spectral.scales import supported_numbers


def planted(rng, sizes, inside, between):
    """Return a random graph with groups of some sizes."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    odds = np.where(labels[:, None] == labels, inside, between)
    graph = np.triu(rng.random(odds.shape) < odds, 1).astype(float)
    return sparse.csr_array(graph + graph.T)


@pytest.mark.parametrize("k", [2, 5, 13, 40])
def test_planted_groups_have_the_most_support(k, rng):
    support = supported_numbers(planted(rng, [15] * k, 0.7, 0.3 / k), 2, 5 * k)
    assert support.numbers[support.best] == pytest.approx(k, rel=0.1)
    assert support.agreement[support.best] > 0.8
    assert np.all(np.diff(support.numbers) > 0)
    assert np.all(np.diff(support.eigenvalues) <= 0)
    assert support.eigenvalues[0] == pytest.approx(1.0)


def test_groups_of_groups_share_the_support(rng):
    # Twelve groups in four groups: both numbers are right.
    labels = np.repeat(np.arange(12), 25)
    odds = np.full((300, 300), 0.004)
    odds[labels[:, None] // 3 == labels // 3] = 0.03
    odds[labels[:, None] == labels] = 0.7
    graph = np.triu(rng.random(odds.shape) < odds, 1).astype(float)
    support = supported_numbers(sparse.csr_array(graph + graph.T), 2, 100)
    shares = dict(zip(support.numbers.tolist(), support.shares.tolist(), strict=True))
    assert min(shares[4], shares[12]) > 0.15
    assert max(shares.values()) < 2 / 3


def test_a_graph_without_clusters_supports_no_number(rng):
    support = supported_numbers(planted(rng, [300], 0.1, 0.0), 2, 100)
    assert support.shares.max() < 0.1
    assert support.agreement.max() < 0.4


def test_support_is_the_same_again_and_for_other_numbers_of_the_points(rng):
    graph = planted(rng, [30] * 6, 0.4, 0.05)
    one, same = (supported_numbers(graph, 2, 60) for _ in range(2))
    np.testing.assert_array_equal(one.shares, same.shares)
    order = rng.permutation(180)
    other = supported_numbers(graph[order][:, order], 2, 60)
    assert other.numbers[other.best] == one.numbers[one.best] == 6


def test_clusterings_of_a_sample_cover_all_points(rng, monkeypatch):
    monkeypatch.setattr("dssc.spectral.clusterings.FEWEST_DRAWN", 100)
    monkeypatch.setattr("dssc.spectral.clusterings.FIRST_RANGE", 4)
    monkeypatch.setattr("dssc.spectral.clusterings.DENSE_SIZE", 100)
    clusterings = SpectralClusterings(planted(rng, [60] * 5, 0.5, 0.01), 2, 50, seed=0)
    assert not clusterings.serve(4)
    assert clusterings.serve(5)
    assert clusterings.vectors.shape == (300, 18)
    truth = np.repeat(np.arange(5), 60)
    for labels in clusterings.labels(5):
        assert len(set(zip(truth.tolist(), labels.tolist(), strict=True))) == 5
