import pickle

import numpy as np
import pytest

from dssc import least_squares_representation, make_union_of_subspaces, unit_norm
from dssc.out_of_sample import FittedClusters
from dssc.out_of_sample.affinity_rows import simplex_thresholds


@pytest.fixture
def fitted(rng):
    """Clusters of 80 samples, with arbitrary potentials."""
    X, y = make_union_of_subspaces(80, n_subspaces=3, noise=0.2, random_state=0)
    return FittedClusters(
        points=X,
        point_of=np.arange(80),
        height=None,
        labels=y,
        n_clusters=3,
        eta1=1.0,
        eta2=0.05,
        eta3=0.0,
        symmetric=True,
        signed=False,
        potentials=rng.uniform(0.0, 0.05, 80),
    )


def with_changes(fitted, **changes):
    fields = {name: getattr(fitted, name) for name in FittedClusters.__dataclass_fields__}
    return FittedClusters(**{**fields, **changes})


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("eta1", [1.0, np.inf])
def test_masses_are_those_of_the_row_that_one_more_sample_would_get(
    symmetric, signed, eta1, fitted, rng
):
    fitted = with_changes(fitted, symmetric=symmetric, signed=signed, eta1=eta1)
    new = rng.standard_normal((5, 20))
    masses = fitted.place(new).masses
    for x, mass in zip(new, masses, strict=True):
        C = least_squares_representation(unit_norm(np.vstack([fitted.points, x])), eta1)
        C = np.maximum(C, 0.0) if signed else np.abs(C)
        k = (C[80, :80] + C[:80, 80]) / 2 if symmetric else C[80, :80]
        v = k - fitted.potentials
        row = np.zeros(80, dtype=int)
        (t,) = simplex_thresholds(row, -np.sort(-v), 1, fitted.eta2, with_self=symmetric)
        a = np.maximum(v - t, 0.0) / fitted.eta2
        expected = np.bincount(fitted.labels, a, minlength=3)
        np.testing.assert_allclose(mass, expected, atol=1e-9)


def test_the_height_of_affine_subspaces_is_added(fitted, rng):
    new = rng.standard_normal((5, 20))
    np.testing.assert_array_equal(fitted.lifted(new), new)
    lifted = with_changes(fitted, height=2.5).lifted(new)
    np.testing.assert_array_equal(lifted, np.hstack([new, np.full((5, 1), 2.5)]))


def test_an_l1_penalty_is_refused(fitted, rng):
    with pytest.raises(NotImplementedError, match=r"eta3=0\.5"):
        with_changes(fitted, eta3=0.5).place(rng.standard_normal((5, 20)))


def test_only_fields_are_pickled(fitted, rng):
    new = rng.standard_normal((5, 20))
    size = len(pickle.dumps(fitted))
    expected, bases = fitted.place(new).masses, fitted.subspaces.bases
    assert len(pickle.dumps(fitted)) == size
    loaded = pickle.loads(pickle.dumps(fitted))
    assert set(vars(loaded)) == set(FittedClusters.__dataclass_fields__)
    np.testing.assert_array_equal(loaded.place(new).masses, expected)
    for one, two in zip(loaded.subspaces.bases, bases, strict=True):
        np.testing.assert_array_equal(one, two)
