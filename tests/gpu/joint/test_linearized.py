import numpy as np
import pytest
import torch

from dssc import JDSSC, fetch_orl, make_union_of_subspaces, unit_norm
from dssc.gpu.joint.linearized import DeviceState
from dssc.gpu.joint.model import DeviceModel, least_squares
from dssc.joint import linearized_admm
from tests.joint.reference import random_model


# n below and above twice the number of features: both ways to form the gradient.
@pytest.mark.parametrize("n", [7, 40])
@pytest.mark.parametrize("eta3", [0.0, 0.05])
def test_iterates_are_those_of_the_cpu(n, eta3, where):
    model = random_model(3, (0.5, 0.2, eta3), n)
    state = linearized_admm.State(model)
    on_device = DeviceModel(torch.as_tensor(model.X, device=where), 0.5, 0.2, eta3)
    other = DeviceState(on_device)
    for _ in range(200):
        state.step()
        other.step()
    np.testing.assert_allclose(other.residuals(), state.residuals(), rtol=1e-6, atol=1e-12)
    value, potentials = state.judge(None)[::-1]
    assert other.judge(None)[1] == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(
        other.bound(potentials, value), state.bound(potentials, value), rtol=1e-8, atol=1e-9
    )
    for mine, theirs in zip(other.splitting(), state.splitting(), strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-10)


@pytest.mark.parametrize("shape", [(9, 30), (30, 9)])
def test_least_squares_is_that_of_the_cpu(shape, where, rng):
    from dssc import least_squares_representation

    X = rng.standard_normal(shape)
    C = least_squares(torch.as_tensor(X, device=where), 0.3).cpu().numpy()
    np.testing.assert_allclose(C, least_squares_representation(X, 0.3), atol=1e-10)


def test_the_estimator_finds_the_same_on_faces(device):
    X = unit_norm(fetch_orl(return_X_y=True)[0])[:120].astype(np.float64)
    options = {"eta1": 1.0, "eta2": 0.1, "eta3": 0.1, "solver": "linearized-admm", "max_iter": 60}
    cpu = JDSSC(12, n_init=1, random_state=0, **options).fit(X)
    other = JDSSC(12, n_init=1, random_state=0, device=device, **options).fit(X)
    assert abs(cpu.affinity_matrix_ - other.affinity_matrix_).max() < 1e-8
    difference = cpu.representation_matrix_ - other.representation_matrix_
    assert np.abs(difference).max() < 1e-8
    np.testing.assert_array_equal(cpu.labels_, other.labels_)
    assert other.projection_.objective == pytest.approx(cpu.projection_.objective, rel=1e-8)
    assert other.projection_.gap == pytest.approx(cpu.projection_.gap, rel=1e-6)


def test_single_precision_stays_close(device):
    X, _ = make_union_of_subspaces(60, n_subspaces=3, noise=0.05, random_state=0)
    options = {"solver": "linearized-admm", "max_iter": 100, "n_init": 1, "random_state": 0}
    double = JDSSC(3, device=device, **options).fit(X)
    single = JDSSC(3, device=device, **options).fit(X.astype(np.float32))
    assert single.representation_matrix_.dtype == np.float32
    difference = single.representation_matrix_ - double.representation_matrix_
    assert np.abs(difference).max() < 1e-5
