import pickle

import numpy as np
import pytest
import torch

from dssc import JDSSC, fetch_orl, make_union_of_subspaces, unit_norm
from dssc.engines.torch.joint import solve_joint_on_device
from dssc.joint import JointModel
from tests.joint.reference import PARAMETERS, certify, random_model, solve_by_cvxpy


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_a_general_solver(seed, where):
    model = random_model(seed, PARAMETERS[seed])
    optimum, *_ = solve_by_cvxpy(model)
    result = solve_joint_on_device(model.X, *PARAMETERS[seed], tol=1e-7, device=where)
    certify(model, result, 1e-7)
    assert result.objective == pytest.approx(optimum, rel=1e-6)
    assert result.dual <= optimum + 1e-8 * max(1.0, abs(optimum))


def test_the_estimator_gives_the_optimum_of_the_cpu_on_faces(device, data_home):
    X = unit_norm(fetch_orl(data_home=data_home, return_X_y=True)[0])[:120].astype(np.float64)
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


def test_the_estimator_gives_the_iterates_of_the_cpu_on_faces(device, data_home):
    X = unit_norm(fetch_orl(data_home=data_home, return_X_y=True)[0])[:120].astype(np.float64)
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


def test_single_precision_reaches_a_modest_gap(where, data_home):
    X = unit_norm(fetch_orl(data_home=data_home, return_X_y=True)[0]).astype(np.float32)
    result = solve_joint_on_device(X, 1.0, 0.1, 0.1, tol=3e-5, device=where)
    assert result.converged
    assert result.representation.dtype == np.float32
    double = JointModel(X.astype(np.float64), 1.0, 0.1, 0.1)
    value = double.upper_bound(result.representation.astype(np.float64), result.plan)
    assert value == pytest.approx(result.objective, rel=1e-5)


def test_too_many_points_are_refused_with_the_number_of_bytes(monkeypatch):
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (500_000, 10**9))
    with pytest.raises(MemoryError, match=r"n_samples=120 .* bytes on cuda .* 500000 are free"):
        solve_joint_on_device(np.eye(120), 1.0, 0.1, 0.0, device=torch.device("cuda"))


@pytest.mark.parametrize("options", [{"alternating_steps": 2}, {"solver": "newton"}])
def test_some_solvers_run_on_the_cpu_only(options, device, rng):
    with pytest.raises(ValueError, match="runs on the CPU only; use device='cpu'"):
        JDSSC(3, device=device, **options).fit(rng.standard_normal((20, 5)))
