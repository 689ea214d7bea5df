import numpy as np
import pytest
from scipy import optimize, sparse

from dssc.out_of_sample import affinity_rows as module
from dssc.out_of_sample.affinity_rows import affinity_rows, simplex_thresholds


def rows_of(K, potentials, eta2, with_self):
    """Return the new rows for a matrix of similarities, as an array."""
    scale = np.full(K.shape[1], 1.0 + 1e-9)
    rows, columns, values, _ = affinity_rows(
        lambda tile: K[:, tile], lambda rows, columns, h: h, scale, potentials, eta2, with_self
    )
    return sparse.coo_array((values, (rows, columns)), shape=K.shape).toarray()


def excess(t, v, eta2, with_self):
    """Return by how much the entries of a row with threshold t exceed a sum of one, times eta2."""
    return np.maximum(v - t, 0).sum() + with_self * max(-2 * t, 0.0) - eta2


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("with_self", [False, True])
def test_a_row_is_what_the_projection_gives_it(with_self, seed, monkeypatch):
    monkeypatch.setattr(module, "FIRST_COLUMNS", 16)
    monkeypatch.setattr(module, "FIRST_KEPT", 4)
    monkeypatch.setattr(module, "TILE", 32)
    rng = np.random.default_rng(seed)
    K = np.abs(rng.standard_normal((12, 100))) * 10.0 ** rng.uniform(-3, 0, (12, 1))
    potentials = rng.uniform(-0.1, 0.5, 100)
    eta2 = 0.3
    A = rows_of(K, potentials, eta2, with_self)
    for row, k in zip(A, K, strict=True):
        v = k - potentials
        t = optimize.brentq(excess, -100, 100, args=(v, eta2, with_self), xtol=1e-14)
        np.testing.assert_allclose(row, np.maximum(v - t, 0) / eta2, atol=1e-9)


def test_a_point_unlike_all_others_keeps_its_mass():
    K = np.zeros((1, 50))
    A = rows_of(K, np.full(50, 0.2), 0.1, with_self=True)
    assert A.sum() == 0.0
    assert rows_of(K, np.full(50, 0.2), 0.1, with_self=False).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("with_self", [False, True])
def test_thresholds_give_every_row_its_sum(with_self, rng):
    counts = rng.integers(1, 20, 30)
    rows = np.repeat(np.arange(30), counts)
    values = rng.standard_normal(len(rows)) * 10.0 ** rng.uniform(-3, 1, 30)[rows]
    values = values[np.lexsort((-values, rows))]
    thresholds = simplex_thresholds(rows, values, 30, 0.7, with_self)
    for row, t in enumerate(thresholds):
        assert excess(t, values[rows == row], 0.7, with_self) == pytest.approx(0.0, abs=1e-12)


def test_a_row_without_entries_has_the_potential_of_a_point_alone():
    """Its own entry, ``-2 t / eta2``, is one."""
    thresholds = simplex_thresholds(np.array([1, 1]), np.array([3.0, 2.0]), 2, 0.5, with_self=True)
    assert thresholds[0] == -0.25
    assert thresholds[1] == 2.5
