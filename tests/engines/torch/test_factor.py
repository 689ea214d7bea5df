import numpy as np
import pytest
import torch
from scipy import sparse

from dssc.engines.torch import sample_blocks
from dssc.engines.torch.exact_rows import HeldRows, StreamedRows
from dssc.engines.torch.factor import N_READS, TorchFactor
from tests.engines.torch.examples import points


def test_products_and_scales_are_those_of_the_definition(where, rng):
    X = points(rng)
    factor = TorchFactor(X, 0.5, False, where)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    h = unit @ np.linalg.solve(unit.T @ unit + 0.5 * np.eye(24), unit.T)
    order = factor.order.cpu().numpy()
    rows, columns = torch.as_tensor(rng.integers(0, 700, (2, 99)), device=where)
    products = factor.products(rows, columns).cpu().numpy()
    expected = h[order[rows.cpu()], order[columns.cpu()]]
    np.testing.assert_allclose(products, expected, atol=1e-13)
    np.testing.assert_allclose(factor.scales.cpu().numpy(), 1 / (1 - np.diag(h)[order]), rtol=1e-12)


@pytest.mark.parametrize("eta1", [0.5, np.inf])
@pytest.mark.parametrize("source", ["array", "memory map", "sparse", "tensor"])
def test_streamed_vectors_have_the_same_bits(source, eta1, where, rng, monkeypatch, tmp_path):
    monkeypatch.setattr(sample_blocks, "BLOCK", 128)
    factors = []
    for is_streamed in (False, True):
        monkeypatch.setattr(TorchFactor, "_is_short_of_memory", lambda *_, is_it=is_streamed: is_it)
        X = stored(points(np.random.default_rng(0)).astype(np.float32), source, tmp_path)
        factors.append(TorchFactor(X, eta1, False, where))
    held, streamed = factors
    assert isinstance(held.exact, HeldRows)
    assert isinstance(streamed.exact, StreamedRows)
    assert torch.equal(held.scales, streamed.scales)
    for one, other in zip(held.bounds[:5], streamed.bounds[:5], strict=True):
        assert torch.equal(one, other)
    rows, columns = torch.as_tensor(rng.integers(0, 700, (2, 2999)), device=where)
    expected = held.products(rows, columns)
    for n_held in (1, 2, 9):
        monkeypatch.setattr(StreamedRows, "_n_held", lambda _, n_held=n_held: n_held)
        assert torch.equal(streamed.products(rows, columns), expected)
    none = rows[:0]
    assert streamed.products(none, none).shape == (0,)


def stored(X, source, folder):
    """Return points as another kind of matrix."""
    if source == "memory map":
        np.save(folder / "X.npy", X)
        return np.load(folder / "X.npy", mmap_mode="r")
    return {"array": np.asarray, "sparse": sparse.csr_array, "tensor": torch.as_tensor}[source](X)


def test_each_block_is_read_once_for_every_slab(rng, monkeypatch):
    monkeypatch.setattr(sample_blocks, "BLOCK", 100)
    monkeypatch.setattr(TorchFactor, "_is_short_of_memory", lambda *_: True)
    factor = TorchFactor(points(rng), 0.5, False, torch.device("cpu"))
    monkeypatch.setattr(StreamedRows, "_n_held", lambda _: 3)
    read, numbers = sample_blocks.SampleBlocks.read, []

    def logged(self, wanted):
        wanted = list(wanted)
        numbers.extend(wanted)
        return read(self, wanted)

    monkeypatch.setattr(sample_blocks.SampleBlocks, "read", logged)
    factor.products(*torch.as_tensor(rng.integers(0, 700, (2, 5000))))
    assert numbers == [0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 6]


def test_reading_is_reported_as_often_as_said(rng):
    amounts = []
    TorchFactor(points(rng), 0.5, False, torch.device("cpu"), amounts.append)
    assert sum(amounts) == 700 * N_READS


def test_an_eta1_whose_coefficients_vanish_is_refused(where, rng):
    with pytest.raises(ValueError, match=r"eta1=1e\+100 is so large .* use numpy.inf"):
        TorchFactor(points(rng, n=9), 1e100, False, where)
