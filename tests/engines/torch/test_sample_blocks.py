import numpy as np
import pytest
import torch
from scipy import sparse

from dssc.engines.torch import sample_blocks
from dssc.engines.torch.sample_blocks import SampleBlocks, unit_rows


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, torch.as_tensor])
def test_blocks_arrive_in_the_order_they_are_asked_for(
    kind, dtype, staged, where, rng, monkeypatch
):
    monkeypatch.setattr(sample_blocks, "BLOCK", 100)
    X = rng.standard_normal((450, 7)).astype(dtype)
    samples = SampleBlocks(kind(X), where, staged)
    assert samples.n_blocks == 5
    numbers = [0, 1, 2, 3, 4, 4, 0, 2]
    for number, (block, rows) in zip(numbers, samples.read(numbers), strict=True):
        assert block.start == 100 * number
        assert rows.device.type == where.type
        np.testing.assert_array_equal(rows.cpu().numpy(), X[block])


def test_what_may_not_be_written_is_copied(rng):
    X = rng.standard_normal((20, 3))
    X.flags.writeable = False
    ((_, rows),) = SampleBlocks(X, torch.device("cpu")).read([0])
    rows += 1.0
    np.testing.assert_array_equal(rows.numpy() - 1.0, (X + 1.0) - 1.0)


def test_rows_of_extreme_lengths_have_unit_norm(where):
    rows = torch.tensor([[3e200, 4e200], [3e-200, 4e-200], [-1.0, 0.0]], dtype=torch.float64)
    expected = torch.tensor([[0.6, 0.8], [0.6, 0.8], [-1.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(unit_rows(rows.to(where)).cpu(), expected)
