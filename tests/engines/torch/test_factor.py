import numpy as np
import pytest
import torch

from dssc.engines.torch import exact_rows
from dssc.engines.torch.factor import TorchFactor
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


def test_streamed_vectors_give_the_same_products(where, rng, monkeypatch):
    X = points(rng)
    held = TorchFactor(X, 0.5, False, where)
    monkeypatch.setattr(exact_rows, "BLOCK", 128)
    monkeypatch.setattr(TorchFactor, "_is_short_of_memory", lambda *_: True)
    streamed = TorchFactor(X, 0.5, False, where)
    assert isinstance(streamed.exact, exact_rows.StreamedRows)
    rows, columns = torch.as_tensor(rng.integers(0, 700, (2, 999)), device=where)
    expected = held.products(rows, columns)
    torch.testing.assert_close(streamed.products(rows, columns), expected, rtol=0, atol=1e-13)
    torch.testing.assert_close(streamed.scales, held.scales, rtol=1e-13, atol=0)
    torch.testing.assert_close(streamed.bounds.vectors, held.bounds.vectors)


def test_an_eta1_whose_coefficients_vanish_is_refused(where, rng):
    with pytest.raises(ValueError, match=r"eta1=1e\+100 is so large .* use numpy.inf"):
        TorchFactor(points(rng, n=9), 1e100, False, where)
