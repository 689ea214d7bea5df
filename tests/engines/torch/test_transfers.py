import numpy as np
import pytest
import torch

from dssc.engines.torch import transfers
from dssc.engines.torch.transfers import copy_in_pieces, on_host


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int32, torch.int64])
@pytest.mark.parametrize("size", [0, 5, 300_000])
def test_a_copy_is_the_same(dtype, size, where):
    tensor = torch.arange(3 * size, device=where).to(dtype).view(-1, 3)
    array = on_host(tensor)
    assert array.dtype == tensor.cpu().numpy().dtype
    np.testing.assert_array_equal(array, tensor.cpu().numpy())
    transposed = on_host(tensor.T)
    np.testing.assert_array_equal(transposed, array.T)


@pytest.mark.parametrize("length", [0, 1, 99, 100, 101, 1000, 1234])
def test_pieces_make_up_the_whole(length, monkeypatch):
    monkeypatch.setattr(transfers, "PIECE", 800)
    source, target = torch.randn(length, dtype=torch.float64), torch.zeros(length).double()
    copy_in_pieces(source, target, pinned=False)
    assert torch.equal(source, target)


def test_a_later_copy_leaves_an_earlier_one_alone(where):
    first = on_host(torch.ones(10**6, device=where))
    on_host(torch.zeros(10**6, device=where))
    assert first.all()
