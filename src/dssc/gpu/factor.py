"""Least squares regression as products of short vectors, on a device."""

import torch
from scipy import sparse

BLOCK = 1 << 17  # samples in float64 at once
SINGLE_ROUNDOFF = 2.0**-24
UP = 1.0 + 2.0**-20


class DeviceFactor:
    r"""The self-expression of (minC) as products ``h_ij = <f_i, f_j>``.

    See :class:`dssc.expression.LeastSquaresFactor`. Two copies of the vectors serve two ends: unit
    ones in half precision to search all products on the tensor cores, and float64 ones to compute
    those that matter.

    Attributes
    ----------
    order : tensor of shape (n,)
        A fixed shuffle of the samples; all other attributes are in that order.
    exact : tensor of shape (n, d), float64
        The vectors f.
    units : tensor of shape (n, padded d)
        ``f_i / |f_i|``, in half precision on a GPU, in float32 on a CPU.
    errors : tensor of shape (n,), float32
        With them ``|cos_ij| <= |<units_i, units_j>| + errors_i + errors_j``, rounding of the sum
        included.
    norms, scales : tensors of shape (n,), float64
        ``|f_i|`` and ``1 / (1 - h_ii)``.
    """

    def __init__(self, X, eta1: float, device):
        n, d = X.shape
        half = device.type == "cuda"
        generator = torch.Generator().manual_seed(0)
        self.order = torch.randperm(n, generator=generator).to(device)
        gram = eta1 * torch.eye(d, dtype=torch.float64, device=device)
        for block in _blocks(n):
            rows = unit_rows(X[block], device)
            gram += rows.T @ rows
        factor = torch.linalg.cholesky(gram)
        self.exact = torch.empty((n, d), dtype=torch.float64, device=device)
        width = -(-d // 64) * 64 if half else d  # whole blocks for the tensor cores
        dtype = torch.float16 if half else torch.float32
        self.units = torch.zeros((n, width), dtype=dtype, device=device)
        self.norms = torch.empty(n, dtype=torch.float64, device=device)
        self.errors = torch.empty(n, dtype=torch.float32, device=device)
        place = torch.empty_like(self.order)
        place[self.order] = torch.arange(n, device=device)
        self.place = place
        for block in _blocks(n):
            self._fill(block, unit_rows(X[block], device), factor, d)
        self.scales = 1.0 / (1.0 - self.norms**2)

    def _fill(self, block, rows, factor, d):
        vectors = torch.linalg.solve_triangular(factor, rows.T, upper=False).T
        norms = torch.linalg.vector_norm(vectors, dim=1)
        at = self.place[block]
        self.exact[at] = vectors
        self.norms[at] = norms
        units = vectors / norms[:, None]
        rounded = units.to(self.units.dtype)
        self.units[at, :d] = rounded
        off = torch.linalg.vector_norm(units - rounded.double(), dim=1)
        # Tensor cores may drop bits of every partial sum: twice the bound of plain rounding.
        summing = 2 * (d + 8) * SINGLE_ROUNDOFF
        self.errors[at] = (UP * (1.01 * off + summing / 2)).float()

    def products(self, rows, columns):
        """Return h at places in the factor's order, in float64."""
        out = torch.empty(len(rows), dtype=torch.float64, device=rows.device)
        step = max(1, (1 << 26) // self.exact.shape[1])
        for start in range(0, len(rows), step):
            at = slice(start, start + step)
            out[at] = (self.exact[rows[at]] * self.exact[columns[at]]).sum(dim=1)
        return out


def unit_rows(rows, device):
    """Return some samples in float64 on a device, scaled to unit norm."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    rows = torch.as_tensor(rows).to(device).double()
    rows = rows / rows.abs().amax(dim=1, keepdim=True)
    return rows / torch.linalg.vector_norm(rows, dim=1, keepdim=True)


def _blocks(n):
    return [slice(start, min(n, start + BLOCK)) for start in range(0, n, BLOCK)]
