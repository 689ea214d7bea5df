import pickle

import numpy as np
import pytest
import torch

from dssc import JDSSC, fetch_orl, unit_norm
from dssc.gpu.joint import solve_joint_on_device, solvers
from dssc.gpu.joint.model import DeviceModel
from dssc.gpu.joint.similarity import DeviceSimilarity
from dssc.joint import JointModel
from dssc.stochastic import ProjectionProblem
from tests.joint.reference import PARAMETERS, certify, random_model, solve_by_cvxpy


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_a_general_solver(seed, where):
    model = random_model(seed, PARAMETERS[seed])
    optimum, *_ = solve_by_cvxpy(model)
    result = solve_joint_on_device(model.X, *PARAMETERS[seed], tol=1e-7, device=where)
    certify(model, result, 1e-7)
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.dual <= optimum + 1e-8 * max(1.0, abs(optimum))


def test_the_proof_is_that_of_the_cpu(where, rng):
    """Both engines bound the optimum alike, from any point."""
    host = random_model(2, (0.5, 0.4, 0.1), 40)
    model = DeviceModel(torch.as_tensor(host.X, device=where), 0.5, 0.4, 0.1)
    C = 0.1 * rng.standard_normal((40, 40))
    np.fill_diagonal(C, 0.0)
    W = np.abs(C)
    projection = host.project(W)
    on_device = torch.as_tensor(C, device=where)
    other = model.project(on_device.abs())
    assert abs(projection.plan - other.plan).max() < 1e-8
    assert other.converged
    A = projection.plan
    assert model.upper_bound(on_device, A) == pytest.approx(host.upper_bound(C, A), rel=1e-12)
    np.testing.assert_allclose(model.best_W(on_device, A).cpu().numpy(), host.best_W(C, A))
    np.testing.assert_allclose(model.overlap(on_device, A), host.overlap(C, A))
    start = rng.standard_normal((2, 40))
    (bound, point), (mine, mine_point) = (
        some.lower_bound(some.products(R), start, R @ some.X.T)
        for some, R in ((host, host.residual(C)), (model, model.residual(on_device)))
    )
    assert mine == pytest.approx(bound, rel=1e-12)
    for x, y in zip(mine_point, point, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12)


def test_projection_on_the_device_finds_what_its_first_entries_lack(where, rng):
    K = rng.random((300, 300)) ** 3
    K[:, :30] += 1.0  # columns that all rows want: most of what is needed is elsewhere
    expected = ProjectionProblem(K).solve(0.05)
    problem = ProjectionProblem(DeviceSimilarity(torch.as_tensor(K, device=where)))
    found = problem.solve(0.05)
    assert found.converged
    assert abs(expected.plan - found.plan).max() < 1e-7
    again = problem.solve(0.05, potentials=expected.potentials)
    assert abs(expected.plan - again.plan).max() < 1e-7


def test_the_estimator_finds_the_same_on_faces(device):
    X = unit_norm(fetch_orl(return_X_y=True)[0])[:120].astype(np.float64)
    options = {"eta1": 1.0, "eta2": 0.5, "eta3": 0.1, "n_init": 1, "random_state": 0}
    cpu = JDSSC(12, **options).fit(X)
    other = JDSSC(12, device=device, **options).fit(torch.as_tensor(X))
    assert other.projection_.gap <= 1e-6
    assert other.projection_.objective == pytest.approx(cpu.projection_.objective, rel=2e-6)
    np.testing.assert_array_equal(cpu.labels_, other.labels_)
    assert other.representation_matrix_.dtype == np.float64
    again = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(again.labels_, other.labels_)
    assert "_device" not in vars(again)


def test_single_precision_reaches_a_modest_gap(where):
    X = unit_norm(fetch_orl(return_X_y=True)[0]).astype(np.float32)
    result = solve_joint_on_device(X, 1.0, 0.1, 0.1, tol=3e-5, device=where)
    assert result.converged
    assert result.representation.dtype == np.float32
    double = JointModel(X.astype(np.float64), 1.0, 0.1, 0.1)
    value = double.upper_bound(result.representation.astype(np.float64), result.plan)
    assert value == pytest.approx(result.objective, rel=1e-5)


def test_too_many_points_are_refused_with_the_number_of_bytes(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (500_000, 10**9))
    with pytest.raises(MemoryError, match=r"n_samples=120 .* bytes on cuda .* 500000 are free"):
        solvers.check_memory(120, np.dtype(np.float64), torch.device("cuda"))


@pytest.mark.parametrize("options", [{"alternating_steps": 2}, {"solver": "newton"}])
def test_some_ways_are_for_the_cpu(options, device, rng):
    with pytest.raises(ValueError, match="runs on the CPU only; use device='cpu'"):
        JDSSC(3, device=device, **options).fit(rng.standard_normal((20, 5)))
