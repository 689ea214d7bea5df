import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dssc import ADSSC, make_union_of_subspaces
from dssc.separation_range import prove_range
from dssc.stochastic import ProjectionProblem
from tests.exact_projection import exact_projection
from tests.test_separation import across, random_blocks


def range_of(K, eta2, labels, k, max_projections=40):
    problem = ProjectionProblem.of_matrix(K)
    result = problem.solve(eta2)
    start = result.potentials[0]
    return prove_range(problem.near_pairs(result), eta2, start, labels, k, max_projections), start


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_no_value_in_a_range_joins_the_clusters_in_extended_precision(seed):
    K, eta2, labels, k = random_blocks(seed)
    found, start = range_of(K, eta2, labels, k)
    for p, q in np.argwhere(~np.isnan(found.lows)):
        for value in np.geomspace(found.lows[p, q], found.highs[p, q], 6):
            A, error = exact_projection(K, value, start, n_steps=100)
            if error < 1e-15:
                assert across(A, labels, k)[0][p, q] == 0


def larger_blocks(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), rng.integers(10, 20, 3))
    K = (labels[:, None] == labels) * rng.uniform(0.3, 1.0, (len(labels),) * 2)
    K += rng.choice([0.1, 0.3]) * rng.uniform(size=K.shape)
    K += K.T.copy()
    np.fill_diagonal(K, 0.0)
    return K, 10.0 ** rng.uniform(-0.5, 0.5), labels, 3


def test_ranges_end_where_clusters_join():
    """With ten points per cluster nothing but a connection ends a range, up to small steps."""
    n_ranges = 0
    for seed in range(5):
        K, eta2, labels, k = larger_blocks(seed)
        found, start = range_of(K, eta2, labels, k, max_projections=200)
        for p, q in np.argwhere(np.triu(found.highs < 9 * eta2)):
            A, error = exact_projection(K, found.highs[p, q] * 1.03, start)
            assert error < 1e-12
            assert across(A, labels, k)[0][p, q] > 0
            n_ranges += 1
    assert n_ranges >= 5


def test_a_fit_says_for_which_eta2_it_holds():
    X, _ = make_union_of_subspaces(300, n_subspaces=4, random_state=0)
    model = ADSSC(4, n_neighbors=12, random_state=0).fit(X)
    found = model.separation_range()
    assert found.low < 0.5 * model.eta2_
    assert found.high > 1.05 * model.eta2_
    assert str(found).startswith("6 pairs of clusters stay separate for every eta2 from ")
    np.testing.assert_array_equal(np.isnan(found.lows), np.eye(4, dtype=bool))
    few = model.separation_range(max_projections=2)
    assert few.n_projections <= 3
    assert found.low < few.low < model.eta2_ < few.high < found.high


def test_nothing_proved_has_no_range():
    noise = np.random.default_rng(0).normal(size=(300, 10))
    model = ADSSC(2, eta1=1.0, n_neighbors=12, random_state=0).fit(noise)
    found = model.separation_range()
    assert np.isnan(found.low)
    assert str(found).startswith("no two clusters are proved separate")
    with pytest.raises(ValueError, match="max_projections"):
        model.separation_range(max_projections=0)
