import numpy as np
import pytest
import torch

from dssc.engines.torch.joint import operations
from dssc.engines.torch.joint.operations import TorchOperations
from dssc.joint import coupling
from dssc.joint.coupling import ANCHORING, Candidates, CouplingCost
from dssc.joint.cpu_operations import CpuOperations
from dssc.joint.penalty import CouplingPenalty


@pytest.fixture(params=[(1.0, 0.1, 0.1), (25.0, 0.01, 0.1), (5.0, 3.0, 0.02)])
def penalty(request):
    return CouplingPenalty(*request.param)


@pytest.fixture
def engines(where):
    return CpuOperations(), TorchOperations(where)


def candidates_of(engine, V, previous):
    keys = engine.largest_keys(engine.array(V), 12)
    sizes = engine.magnitudes_at(engine.array(V), keys)
    return Candidates(keys, sizes, engine.array(previous)[keys])


@pytest.mark.parametrize("anchoring", [0.0, ANCHORING])
def test_newton_s_steps_are_those_of_the_cpu(engines, penalty, anchoring, rng):
    eta2 = penalty.eta2
    V, previous = eta2 * rng.standard_normal((40, 40)), rng.random(1600) / 40
    potentials = 0.1 * eta2**2 * rng.standard_normal((2, 40))
    cost = CouplingCost(penalty, 1.0, anchoring)
    results = []
    for engine in engines:
        candidates = candidates_of(engine, V, previous)
        newton = engine.coupling_newton(cost, candidates, 40)
        start = engine.array(potentials.ravel())
        A, missing = newton.evaluate(start)
        plan, _, error = coupling.solve(newton, start, 1e-10, 100)
        assert error <= 1e-10
        C = cost.coefficients(candidates.sizes, plan)
        results.append([torch.as_tensor(x).cpu().numpy() for x in (A, missing, plan, C)])
    for cpu, device in zip(*results, strict=True):
        np.testing.assert_allclose(device, cpu, atol=1e-8)


def test_a_newton_direction_is_that_of_the_cpu(engines, penalty, rng):
    V = 0.2 * rng.standard_normal((40, 40))
    directions = []
    for engine in engines:
        candidates = candidates_of(engine, V, np.zeros(1600))
        newton = engine.coupling_newton(CouplingCost(penalty, 1.0, ANCHORING), candidates, 40)
        _, missing = newton.evaluate(engine.array(np.full(80, 0.01)))
        directions.append(newton.direction(1e-9 * missing))  # small: solved to eight digits
    cpu, device = directions
    np.testing.assert_allclose(device.cpu().numpy(), cpu, atol=1e-6 * np.abs(cpu).max())


@pytest.mark.parametrize("most", [0, 1 << 20])
def test_few_candidates_are_solved_as_many_are(most, engines, penalty, rng, monkeypatch):
    monkeypatch.setattr(operations, "SOLVED_ON_HOST", most)
    V = penalty.eta2 * rng.standard_normal((40, 40))
    start = 0.1 * penalty.eta2**2 * rng.standard_normal(80)
    cost = CouplingCost(penalty, 1.0, ANCHORING)
    cpu, device = (
        engine.solve_coupling(
            cost, candidates_of(engine, V, np.zeros(1600)), engine.array(start), 1e-10, 100
        )
        for engine in engines
    )
    assert device.error <= 1e-10
    assert device.values.device.type == engines[1].device.type
    np.testing.assert_allclose(device.values.cpu().numpy(), cpu.values, atol=1e-8)
    assert [len(part) for part in device.potentials] == [40, 40]
