import numpy as np
import pytest
import torch

from dssc.gpu.joint.dense import DeviceEngine
from dssc.gpu.joint.model import DeviceModel
from dssc.joint import transport
from dssc.joint.dense import DenseEngine
from dssc.joint.entries import Entries
from dssc.joint.transport import CLINGING, Candidates, Cost
from tests.joint.reference import random_model


@pytest.fixture(params=[(1.0, 0.1, 0.1), (25.0, 0.01, 0.1), (5.0, 3.0, 0.02)])
def engines(request, where):
    model = random_model(1, request.param, 40)
    on_device = DeviceModel(torch.as_tensor(model.X, device=where), *request.param)
    return DenseEngine(model), DeviceEngine(on_device)


def candidates_of(engine, V, last):
    keys = engine.largest(engine.array(V), 12)
    sizes = engine.sizes(engine.array(V), keys)
    return Candidates(keys, sizes, engine.array(last)[keys])


@pytest.mark.parametrize("clinging", [0.0, CLINGING])
def test_newton_s_steps_are_those_of_the_cpu(engines, clinging, rng):
    eta2 = engines[0].model.eta2
    V, last = eta2 * rng.standard_normal((40, 40)), rng.random(1600) / 40
    potentials = 0.1 * eta2**2 * rng.standard_normal((2, 40))
    found = []
    for engine in engines:
        cost = Cost(engine.model, 1.0, clinging)
        newton = engine.newton(cost, candidates_of(engine, V, last))
        start = [engine.array(p) for p in potentials]
        A, missing = newton.evaluate(newton.join(start))
        plan, _, error = transport.solve(newton, start, 1e-10, 100)
        assert error <= 1e-10
        found.append([torch.as_tensor(x).cpu().numpy() for x in (A, missing, plan)])
        C = cost.coefficients(newton.candidates.sizes, plan)
        found[-1].append(torch.as_tensor(C).cpu().numpy())
    for cpu, device in zip(*found, strict=True):
        np.testing.assert_allclose(device, cpu, atol=1e-8)


def test_a_newton_direction_is_that_of_the_cpu(engines, rng):
    V = 0.2 * rng.standard_normal((40, 40))
    directions = []
    for engine in engines:
        candidates = candidates_of(engine, V, np.zeros(1600))
        newton = engine.newton(Cost(engine.model, 1.0, CLINGING), candidates)
        _, missing = newton.evaluate(engine.array(np.full(80, 0.01)))
        directions.append(newton.direction(1e-9 * missing))  # small: solved to eight digits
    cpu, device = directions
    np.testing.assert_allclose(device.cpu().numpy(), cpu, atol=1e-6 * np.abs(cpu).max())


def test_entries_are_combined_alike(engines, rng):
    cpu, device = engines
    parts = []
    for weight in (1.0, -0.5, 0.25):
        keys = np.sort(rng.choice(1600, 300, replace=False))
        parts.append((weight, Entries(keys, rng.random(300))))
    mine = device.combined([(w, Entries(*map(device.array, e))) for w, e in parts])
    theirs = cpu.combined(parts)
    dense = sum(w * e.matrix(40).toarray() for w, e in parts)
    np.testing.assert_allclose(theirs.matrix(40).toarray(), dense, atol=1e-15)
    np.testing.assert_allclose(mine.matrix(40).toarray(), dense, atol=1e-15)
    assert len(mine.keys) == len(theirs.keys)
