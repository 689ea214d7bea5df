"""The few hot loops of the package, once per engine.

Every engine offers the same functions over the same flat arrays; `_numpy` is the plain one that
the tests hold the others against. A run chooses its engine once, with `select`, and passes it on.

The projection's kernels see one kind of problem: a symmetric sparse matrix in CSR form (`indptr`,
`indices`, `values`), one potential per row, and the slack ``values[i, j] - (w[i] + w[j])``.
The parentheses matter: they make slack (i, j) and slack (j, i) the same number in floating point,
without which the dual's gradient belongs to no function and a line search stalls.
"""

from types import ModuleType


def select(device: str = "cpu") -> ModuleType:
    """Return the module of kernels that runs on `device`."""
    if device != "cpu":
        raise ValueError(f"device={device!r} is not supported; use device='cpu'")
    from dssc.kernels import _numba

    return _numba
