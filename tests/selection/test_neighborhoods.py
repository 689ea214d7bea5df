import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits

from dssc import make_union_of_subspaces
from dssc.expression import least_squares_representation
from dssc.selection import neighborhoods
from dssc.selection.neighborhoods import (
    ETA1_VALUES,
    SMALL,
    WIDE,
    Sample,
    choose_expression,
    compared_with_chance,
)
from dssc.subspaces import unit_rows


def directions(rng, n=400, n_features=60):
    """Return points around four directions, with a mean in common."""
    centers = rng.standard_normal((4, n_features))
    return centers[rng.integers(0, 4, n)] + 0.5 * rng.standard_normal((n, n_features)) + 1.0


def plain_distance(X, eta1, signed, point, shape):
    """Return the distance of one point from its neighbourhood, by definition."""
    X = unit_rows(X)
    C = least_squares_representation(X, eta1)
    K = (C + C.T) / 2 if signed else (abs(C) + abs(C).T) / 2
    np.fill_diagonal(K, -np.inf)
    near = np.argsort(-K[point])[: shape.n_near]
    members = {j for i in near for j in (i, *np.argsort(-K[i])[: shape.n_next])} - {point}
    basis = np.linalg.svd(X[sorted(members)])[2][: min(shape.dimension, len(members))]
    return 1.0 - np.sum((basis @ X[point]) ** 2)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("eta1", [0.1, 10.0, np.inf])
@pytest.mark.parametrize(("n", "d"), [(120, 40), (60, 90)])
@pytest.mark.parametrize("shape", [SMALL, WIDE])
def test_distances_are_what_the_definition_says(rng, shape, n, d, eta1, signed):
    X = rng.standard_normal((n, d)) + 0.5
    points = np.arange(0, n, 7)
    expected = np.mean([plain_distance(X, eta1, signed, point, shape) for point in points])
    for some in (X, sparse.csr_array(X)):
        found = Sample(some).mean_distance(eta1, signed, points, shape)
        assert found == pytest.approx(expected, rel=1e-4)


def test_subspaces_get_a_small_eta1_and_directions_a_large_one(rng):
    # Like faces in changing light: in a subspace, neighbours at a small angle are not enough.
    lit = np.abs(rng.standard_normal((8, 60, 9))) @ rng.standard_normal((8, 9, 300))
    faces = (lit + 4 * rng.standard_normal((1, 1, 300))).reshape(480, 300)
    assert choose_expression(faces).eta1 <= 1.0
    assert choose_expression(load_digits().data).eta1 >= 100.0


def test_signs_count_unless_clusters_hold_opposite_points(rng):
    X, _ = make_union_of_subspaces(300, n_subspaces=4, random_state=0)
    choice = choose_expression(X)
    assert not choice.signed
    assert choice.opposite_share == pytest.approx(0.5, abs=0.1)
    choice = choose_expression(directions(rng))
    assert choice.signed
    assert choice.opposite_share == 0.0


def test_a_given_eta1_is_kept_and_nothing_is_compared(rng):
    choice = choose_expression(directions(rng), eta1=0.3)
    assert (choice.eta1, choice.tried) == (0.3, [])


def test_every_second_value_is_tried_and_those_beside_the_best(monkeypatch):
    def profile(_, eta1, *__):
        return abs(np.flatnonzero(np.isclose(ETA1_VALUES, eta1, atol=0))[0] - 2.9)

    monkeypatch.setattr(Sample, "mean_distance", profile)
    monkeypatch.setattr(neighborhoods, "REFERENCE_SIZE", 50)
    choice = choose_expression(np.random.default_rng(0).standard_normal((50, 5)))
    assert choice.eta1 == ETA1_VALUES[3]
    assert {entry.eta1 for entry in choice.tried} == {ETA1_VALUES[i] for i in (0, 1, 2, 3, 4, 6, 8)}


def test_eta1_grows_with_the_number_of_points_and_a_sample_is_enough(rng, monkeypatch):
    X = directions(rng, 600)
    monkeypatch.setattr(neighborhoods, "FEWEST_SOUGHT", 200)
    monkeypatch.setattr(neighborhoods, "MOST_SOUGHT", 200)
    tried = {entry.eta1 for entry in choose_expression(X).tried}
    assert tried <= {0.6 * value for value in ETA1_VALUES}


@pytest.mark.filterwarnings("ignore:all .* points are equal or opposite")
@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(12, 40),
    d=st.integers(1, 30),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_any_data_have_a_choice_that_scaling_does_not_change(n, d, seed, scale):
    X = np.random.default_rng(seed).integers(1, 4, (n, d)).astype(float)
    choice = choose_expression(X)
    assert choice.eta1 > 0
    assert all(0.0 <= entry.distance <= 1.0 for entry in choice.tried)
    assert choose_expression(scale * X).signed == choice.signed


def test_points_without_clusters_are_no_better_than_chance(rng):
    noise = rng.standard_normal((500, 20))
    assert compared_with_chance(noise, choose_expression(noise)) > 0.95
    digits = load_digits().data
    assert compared_with_chance(digits, choose_expression(digits)) < 0.6


def test_few_points_decide_only_if_they_are_clearly_nearer_than_chance(monkeypatch):
    drawn = []

    def distance(X, eta1, signed, n_compared=neighborhoods.COMPARED):
        drawn.append(n_compared)
        return ratio

    monkeypatch.setattr(neighborhoods, "distance_from_neighbors", distance)
    digits = load_digits().data
    how = choose_expression(digits)
    for ratio, expected in [(0.74, [300]), (0.76, [300, 1000])]:
        drawn.clear()
        assert compared_with_chance(digits, how) == ratio
        assert drawn == expected


@pytest.mark.parametrize("n_features", [1, 5])
def test_points_on_one_line_are_named(n_features):
    X = np.outer(np.linspace(1, 2, 30), np.ones(n_features))
    with pytest.warns(UserWarning, match="equal or opposite"):
        choose_expression(X)


@pytest.mark.parametrize("dimension", [2, 5, 10])
def test_the_dimension_is_that_of_the_points(rng, dimension):
    flat = np.hstack([rng.normal(size=(1500, dimension)) * 0.1, np.ones((1500, 1))])
    X = flat @ np.linalg.qr(rng.normal(size=(40, dimension + 1)))[0].T
    found = Sample(X).dimension(signed=True)
    assert 0.8 * dimension < found < 1.2 * dimension
    opposite = X * rng.choice([-1.0, 1.0], size=(1500, 1))
    assert Sample(opposite).dimension(signed=False) == pytest.approx(found)


def test_copies_and_equal_distances_have_a_dimension(rng):
    X = rng.normal(size=(100, 4))
    almost = np.vstack([X, X[:20] * (1 + 1e-15)])
    assert 2.0 < Sample(almost).dimension(signed=True) < 5.0
    assert Sample(np.eye(30)).dimension(signed=True) > 100.0


@pytest.mark.parametrize("n_threads", [3, 16])
def test_the_choice_does_not_depend_on_the_number_of_threads(rng, monkeypatch, n_threads):
    X = make_union_of_subspaces(300, noise=0.3, random_state=0)[0]
    expected = choose_expression(X)
    monkeypatch.setattr(neighborhoods, "PRODUCTS_PER_THREAD", 1)
    monkeypatch.setattr(neighborhoods, "n_threads", lambda: n_threads)
    assert choose_expression(X) == expected
