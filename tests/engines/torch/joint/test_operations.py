import numpy as np
import pytest
import torch

from dssc.engines.torch.joint.operations import TorchOperations
from dssc.joint import JointModel
from dssc.joint.entries import Entries
from dssc.joint.linearized_admm import LinearizedAdmm
from tests.joint.reference import random_model


def on_device(model, where):
    parameters = model.eta1, model.eta2, model.eta3
    return JointModel(torch.as_tensor(model.X, device=where), *parameters, TorchOperations(where))


# n below and above twice the number of features: both ways to form the gradient.
@pytest.mark.parametrize("n", [7, 40])
@pytest.mark.parametrize("eta3", [0.0, 0.05])
def test_iterates_of_the_linearized_admm_are_those_of_the_cpu(n, eta3, where):
    model = random_model(3, (0.5, 0.2, eta3), n)
    state, other = LinearizedAdmm(model), LinearizedAdmm(on_device(model, where))
    for _ in range(200):
        state.step()
        other.step()
    np.testing.assert_allclose(other.residuals(), state.residuals(), rtol=1e-6, atol=1e-12)
    potentials, value = state.evaluate(None)
    assert other.evaluate(None)[1] == pytest.approx(value, rel=1e-9)
    mine, theirs = (s.model.lower_bound_at(s.C_p - s.C_q, potentials) for s in (other, state))
    np.testing.assert_allclose(mine.value, theirs.value, rtol=1e-8, atol=1e-9)
    for mine, theirs in zip(other.release(), state.release(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-10)


@pytest.mark.parametrize("shape", [(9, 30), (30, 9)])
def test_least_squares_is_that_of_the_cpu(shape, where, rng):
    from dssc import least_squares_representation

    X = rng.standard_normal(shape)
    C = TorchOperations(where).least_squares(torch.as_tensor(X, device=where), 0.3).cpu().numpy()
    np.testing.assert_allclose(C, least_squares_representation(X, 0.3), atol=1e-10)


def test_the_certificate_is_that_of_the_cpu(where, rng):
    """Both engines bound the optimum in the same way, from any point."""
    host = random_model(2, (0.5, 0.4, 0.1), 40)
    model = on_device(host, where)
    C = 0.1 * rng.standard_normal((40, 40))
    np.fill_diagonal(C, 0.0)
    W = np.abs(C)
    projection = host.project(W)
    tensor = torch.as_tensor(C, device=where)
    other = model.project(tensor.abs())
    assert abs(projection.plan - other.plan).max() < 1e-8
    assert other.converged
    A = projection.plan
    assert model.upper_bound(tensor, A) == pytest.approx(host.upper_bound(C, A), rel=1e-12)
    np.testing.assert_allclose(model.best_W(tensor, A).cpu().numpy(), host.best_W(C, A))
    np.testing.assert_allclose(model.overlap(tensor, A), host.overlap(C, A))
    start = rng.standard_normal((2, 40))
    bound, mine = (
        m.lower_bound(m.products(R), start, R @ m.X.T)
        for m, R in ((host, host.residual(C)), (model, model.residual(tensor)))
    )
    assert mine.value == pytest.approx(bound.value, rel=1e-12)
    np.testing.assert_allclose(mine.share, bound.share, rtol=1e-12)
    for x, y in zip(mine.potentials, bound.potentials, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


@pytest.mark.parametrize("parameters", [(1.0, 0.1, 0.1), (25.0, 0.01, 0.1), (5.0, 3.0, 0.02)])
def test_weighted_sums_of_entries_are_those_of_the_cpu(parameters, where, rng):
    cpu, device = random_model(1, parameters, 40).operations, TorchOperations(where)
    terms = []
    for weight in (1.0, -0.5, 0.25):
        keys = np.sort(rng.choice(1600, 300, replace=False))
        terms.append((weight, Entries(keys, rng.random(300))))
    mine = device.weighted_sum([(w, Entries(*map(device.array, e))) for w, e in terms])
    theirs = cpu.weighted_sum(terms)
    dense = sum(w * e.matrix(40).toarray() for w, e in terms)
    np.testing.assert_allclose(theirs.matrix(40).toarray(), dense, atol=1e-15)
    np.testing.assert_allclose(mine.matrix(40).toarray(), dense, atol=1e-15)
    assert len(mine.keys) == len(theirs.keys)
