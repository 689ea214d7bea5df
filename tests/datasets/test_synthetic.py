import numpy as np
import pytest

from dssc import make_union_of_subspaces


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("dimension", [2, (1, 2, 3)])
def test_points_lie_in_subspaces_of_the_dimensions_asked_for(affine, dimension):
    X, y = make_union_of_subspaces(
        91, n_subspaces=3, dimension=dimension, n_features=9, affine=affine, random_state=0
    )
    assert X.shape == (91, 9)
    np.testing.assert_array_equal(np.sort(np.bincount(y)), [30, 30, 31])
    for label, d in enumerate(np.broadcast_to(dimension, 3)):
        points = X[y == label]
        points = points - points.mean(axis=0) if affine else points
        assert np.linalg.matrix_rank(points, tol=1e-10) == d


def test_affine_subspaces_miss_the_origin():
    X, y = make_union_of_subspaces(90, dimension=2, affine=True, random_state=0)
    assert np.linalg.matrix_rank(X[y == 0], tol=1e-10) == 3


def test_noise_has_the_norm_asked_for():
    clean, _ = make_union_of_subspaces(2000, n_features=50, random_state=0)
    noisy, _ = make_union_of_subspaces(2000, n_features=50, noise=0.3, random_state=0)
    norms = np.linalg.norm(noisy - clean, axis=1)
    assert np.sqrt(np.mean(norms**2)) == pytest.approx(0.3, rel=0.02)


def test_repeatable_for_a_seed():
    one, two, other = (make_union_of_subspaces(random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one[0], two[0])
    assert not np.array_equal(one[0], other[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 2}, "n_samples=2 must be at least n_subspaces=3"),
        ({"n_subspaces": 0}, "n_subspaces=0"),
        ({"dimension": 21}, "dimension=21 must lie between 1 and n_features=20"),
        ({"dimension": 0}, "dimension=0"),
        ({"noise": -1.0}, r"noise=-1\.0"),
        ({"noise": np.nan}, "noise=nan"),
        ({"dimension": (1, 2)}, "dimension=.*3 subspaces"),
    ],
)
def test_bad_input_is_explained(options, message):
    with pytest.raises(ValueError, match=message):
        make_union_of_subspaces(**options)
