import numpy as np
import pytest

from dssc.joint.acceleration import Anderson

ROWS = [slice(0, 3), slice(3, 6)]


def make():
    return Anderson([np.empty((6, 6), dtype=np.float32) for _ in range(4)], ROWS)


def test_a_linear_iteration_ends_after_its_distinct_rates(rng):
    """Two rates of convergence, however slow, are two unknowns."""
    fixed = rng.standard_normal((6, 6))
    rates = rng.choice([0.02, 0.3], (6, 6))
    z = np.zeros((6, 6))
    acceleration = make()
    for _ in range(6):
        acceleration.advance(z, rates * (fixed - z))
    assert acceleration.slot >= 0
    assert np.abs(z - fixed).max() < 1e-4  # 0.9 of the slow part would be left by plain steps


def test_a_step_that_made_things_worse_is_replaced_by_the_plain_one(rng):
    z = np.zeros((6, 6))
    acceleration = make()
    F = rng.standard_normal((6, 6))
    for scale in (1.0, 0.9):
        acceleration.advance(z, scale * F)
    before = z.copy()
    last = 0.8 * F + 0.01 * rng.standard_normal((6, 6))
    acceleration.advance(z, last.copy())
    assert np.abs(z - before - last).max() > 0.1  # a bold step
    acceleration.advance(z, 100.0 * F)
    assert acceleration.slot == -1
    np.testing.assert_allclose(z, before + last, atol=1e-5)
    acceleration.advance(z, 0.5 * F)  # and it starts again with a plain step
    np.testing.assert_allclose(z, before + last + 0.5 * F, atol=1e-5)


@pytest.mark.parametrize("n_steps", [1, 4])
def test_nothing_moves_at_the_fixed_point(n_steps):
    z = np.ones((6, 6))
    acceleration = make()
    for _ in range(n_steps):
        acceleration.advance(z, np.zeros((6, 6)))
    np.testing.assert_array_equal(z, np.ones((6, 6)))
