import numpy as np
import pytest

from dssc import unit_norm
from dssc.joint.cpu_operations import CpuOperations
from dssc.joint.fit_step import fit_step


@pytest.mark.parametrize("d", [5, 40])  # both forms of the step
def test_the_fit_s_proximal_step_by_its_definition(d, rng):
    X = unit_norm(rng.standard_normal((30, d)))
    z, Y = rng.standard_normal((2, 30, 30))
    before, C = Y.copy(), np.empty((30, 30))
    fit_step(CpuOperations(), X, 0.7).write(z, Y, C)
    np.testing.assert_allclose(Y, before, atol=1e-12)
    slope = (C @ X - X) @ X.T + 0.7 * (C - (2 * before - z))
    np.testing.assert_allclose(slope, 0.0, atol=1e-10)
