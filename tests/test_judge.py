"""The judge is judged: what is wrong must be rejected, whatever the scale and offset of K."""

from dataclasses import replace

import numpy as np
import pytest

from dssc import project_doubly_stochastic
from tests.judge import as_dense, certify, feasible, relative_gap

PROBLEMS = {"plain": (1.0, 0.0), "tiny": (1e-9, 0.0), "huge": (1e9, 0.0), "shifted": (1.0, 1e6)}


@pytest.fixture(params=sorted(PROBLEMS))
def solved(request, rng):
    scale, offset = PROBLEMS[request.param]
    K, eta2 = scale * rng.random((20, 20)) + offset, 0.1 * scale
    return K, eta2, project_doubly_stochastic(K, eta2)


def test_a_right_result_is_accepted(solved):
    certify(*solved)


def test_mass_moved_around_a_cycle_is_rejected(solved):
    K, eta2, result = solved
    A = as_dense(result.plan).copy()
    i = int(np.argmax(A.max(axis=1)))
    j = int(np.argmax(A[i]))
    k = (i + 1) % 20
    m = int(np.argmax(A[k]))
    moved = 1e-3 * min(A[i, j], A[k, m])
    A[[i, k], [j, m]] -= moved
    A[[i, k], [m, j]] += moved
    with pytest.raises(AssertionError):
        certify(K, eta2, replace(result, plan=A))


@pytest.mark.parametrize("share", [1e-5, 1e-2, 1.0])
def test_wrong_potentials_are_rejected(share, solved):
    K, eta2, result = solved
    alpha, beta = (p.copy() for p in result.potentials)
    alpha[3] += share * eta2
    with pytest.raises(AssertionError):
        certify(K, eta2, replace(result, potentials=(alpha, beta)))


@pytest.mark.parametrize("damage", [1e-7, 1e-2])
def test_wrong_sums_are_rejected(damage, solved):
    K, eta2, result = solved
    with pytest.raises(AssertionError):
        certify(K, eta2, replace(result, plan=as_dense(result.plan) * (1 + damage)))


@pytest.mark.parametrize("change", [{"gap": 1e-7}, {"gap": -1e-9}, {"marginal_error": 1e-7}])
def test_a_certificate_that_admits_failure_is_rejected(change, solved):
    K, eta2, result = solved
    with pytest.raises(AssertionError):
        certify(K, eta2, replace(result, **change))


def test_the_gap_of_another_plan_bounds_its_distance(solved, rng):
    K, eta2, result = solved
    slack = (K - result.potentials[0][:, None] - result.potentials[1]) / eta2
    A = as_dense(result.plan)
    other = feasible((A + 0.1 * rng.random(A.shape)).astype(np.longdouble))
    np.testing.assert_allclose(other.sum(axis=0), 1.0, rtol=1e-12)
    np.testing.assert_allclose(other.sum(axis=1), 1.0, rtol=1e-12)
    assert np.sum((other - A) ** 2) <= 2.001 * relative_gap(slack, other) * np.sum(other**2)
