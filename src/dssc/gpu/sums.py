"""Sums over the rows of sparse matrices; the plain version of :mod:`dssc.gpu.fused_sums`."""

import sys
from types import ModuleType

import torch

from dssc.gpu.graph import DeviceGraph, multiplication


def kernels_for(device) -> ModuleType:
    """Return the module that computes these sums on a device."""
    if device.type == "cuda":
        try:
            from dssc.gpu import fused_sums
        except ImportError:
            pass
        else:
            return fused_sums
    return sys.modules[__name__]


def positive_parts(graph: DeviceGraph, w):
    """Return sums and numbers of the positive ``values - w_i - w_j`` of each row, and which are."""
    slack = graph.slack(w)
    positive = slack > 0
    sums = graph.row_sums(torch.where(positive, slack, 0.0))
    return sums, graph.row_sums(positive.double()), positive


def newton_product(graph: DeviceGraph, positive, diagonal):
    """Return the function that multiplies ``diag(diagonal) + positive`` with a vector."""
    n = len(diagonal)
    multiply = multiplication(graph.indptr, graph.columns, positive.double(), n)
    return lambda x: torch.addcmul(multiply(x), diagonal, x)


def product(csr, x):
    """Return a CSR matrix times a vector."""
    indptr, columns, values = csr
    return multiplication(indptr, columns, values, len(x))(x)


def combination(csr, X, scale: float, shift: float, previous=None, weight: float = 0.0):
    """Return ``scale A X + shift X + weight previous``."""
    indptr, columns, values = csr
    product = multiplication(indptr, columns, values, len(X))(X).mul_(scale)
    if shift:
        product.add_(X, alpha=shift)
    return product if previous is None else product.add_(previous, alpha=weight)
