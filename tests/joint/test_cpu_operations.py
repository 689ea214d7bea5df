import numpy as np

from dssc.joint.cpu_operations import CpuOperations


def test_keys_above_by_a_plain_comparison(rng):
    z = rng.standard_normal((30, 30))
    rows, columns = -rng.random((2, 30))
    columns[3] = 1.5
    keys = CpuOperations().keys_above(z, rows, columns, 0.9)
    p = rows[:, None] + columns
    expected = np.flatnonzero((np.abs(z) + p > 0.9) | (p > 0) | np.eye(30, dtype=bool))
    np.testing.assert_array_equal(keys, expected)
