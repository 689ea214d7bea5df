import numpy as np
import pytest

from dssc.diagnostics import central_and_doubtful, certainty, plane_layout, sample_points


def test_central_and_doubtful_members():
    angles = np.radians([0, 5, 40, 90, 85, 50])
    U, labels = np.stack([np.cos(angles), np.sin(angles)], axis=1), np.array([0, 0, 0, 1, 1, 1])
    own, margin = certainty(U, labels, 2)
    central, doubtful = central_and_doubtful(own, margin, labels, 2, 1)
    assert [members.tolist() for members in doubtful] == [[2], [5]]
    assert margin[2] == pytest.approx(margin[5])
    assert central[0][0] in (0, 1)


def test_a_sample_has_a_few_of_every_cluster(rng):
    labels = np.repeat([0, 1, 2], [5000, 4000, 12])
    points = sample_points(labels, 3, 500, rng)
    counts = np.bincount(labels[points])
    assert counts[2] == 10
    assert 500 <= len(points) <= 515
    assert len(np.unique(points)) == len(points)
    np.testing.assert_array_equal(sample_points(labels, 3, 10**5, rng), np.arange(len(labels)))


@pytest.mark.parametrize("shape", [(7, 1), (30, 4), (80, 2), (80, 5)])
def test_places_are_in_the_unit_square(rng, shape):
    places, _ = plane_layout(rng.standard_normal(shape), 3)
    assert places.shape == (shape[0], 2)
    assert np.isfinite(places).all()
    assert places.min() >= 0
    assert places.max() <= 1


def test_identical_rows_are_drawn_too():
    places, method = plane_layout(np.repeat(np.eye(3), 30, axis=0), 3)
    assert method == "t-SNE"
    assert len(np.unique(places.round(3), axis=0)) == 90
