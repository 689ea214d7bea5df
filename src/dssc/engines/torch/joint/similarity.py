"""The largest entries of a matrix on a device, and its projection."""

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from dssc._progress import Progress
from dssc._typing import Array
from dssc.joint.blocks import row_blocks
from dssc.stochastic.similarity import MissingEntries, Places, Potentials, Similarity, Start, filled
from dssc.stochastic.support import Support, pattern_at

# Entries of a matrix that are processed at once.
BLOCK = 1 << 24
# Largest entries of each row and column in the first support.
FIRST_NEIGHBORS = 32
# Entries of A that would be above minus this join the support together with the positive ones.
MARGIN = 0.05


class TorchSimilarity(Similarity):
    """A dense nonnegative K on a device. Every check reads all of it."""

    symmetric = False

    def __init__(self, K: Tensor):
        self.K = K
        self.shape = K.shape[0], K.shape[1]

    @property
    def largest(self) -> float:
        """The largest entry."""
        return float(self.K.max())

    def start(
        self,
        eta2: float,
        feasible: Places,
        held: Support | None,
        potentials: Potentials | None,
        progress: Progress,
    ) -> Start:
        """Start from the largest entries, and from the positive ones for given potentials."""
        start = super().start(eta2, feasible, held, potentials, progress)
        if potentials is None:
            return start
        missing = self.missing(start.support, potentials, eta2, progress)
        support = start.support.extended(missing.rows, missing.columns, missing.values)
        return start._replace(support=support)

    def first_support(self, eta2: float, feasible: Places, progress: Progress) -> Support:
        """Return the largest entries of each row and column, and the feasible ones."""
        i, j = np.divmod(largest_keys(self.K, FIRST_NEIGHBORS).cpu().numpy(), self.shape[0])
        pattern = pattern_at(i, j, self.shape) + pattern_at(*feasible, self.shape)
        return filled(sparse.csr_array(pattern), self)

    def missing(
        self, support: Support, potentials: Potentials, eta2: float, progress: Progress
    ) -> MissingEntries:
        """Read all of K."""
        alpha, beta = potentials
        rows, columns = (torch.as_tensor(-x, device=self.K.device) for x in potentials)
        keys = keys_above(self.K, rows, columns, -MARGIN * eta2).cpu().numpy()
        i, j = support.not_held(*np.divmod(keys, self.shape[0]))
        values = self.at(i, j)
        if not np.any(values > alpha[i] + beta[j]):
            i, j, values = i[:0], j[:0], values[:0]
        return MissingEntries(i, j, values, self.shape[0])

    def at(self, rows: Array, columns: Array) -> Array:
        """Return entries of K in float64."""
        return entries_at(self.K, rows, columns).astype(np.float64)

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the largest entries of each row, in falling order."""
        return torch.topk(self.K, count, dim=1)[0].double().cpu().numpy()


def largest_keys(M: Tensor, count: int) -> Tensor:
    """Return keys ``i n + j`` of the diagonal and of each row's and column's largest magnitudes."""
    n = len(M)
    count = min(count, n - 1)
    indices = torch.arange(n, device=M.device)
    keys = [indices * (n + 1)]
    for transposed in (False, True):
        part = M.T if transposed else M
        for block in row_blocks(n, n, BLOCK):
            sizes = part[block].abs()
            sizes.diagonal(block.start).fill_(-1.0)
            columns = torch.topk(sizes, count, dim=1)[1].view(-1)
            rows = indices[block].repeat_interleave(count)
            keys.append(columns * n + rows if transposed else rows * n + columns)
    return torch.unique(torch.cat(keys))


def keys_above(M: Tensor, rows: Tensor, columns: Tensor, limit: float) -> Tensor:
    """Return keys of entries with ``|M| + rows + columns > limit`` or ``rows + columns > 0``.

    The diagonal is always included.
    """
    n = len(M)
    keys = []
    for block in row_blocks(n, n, BLOCK):
        p = rows[block, None] + columns
        wanted = p > 0.0
        wanted |= p.add_(M[block].abs()) > limit
        wanted.diagonal(block.start).fill_(True)
        keys.append(torch.nonzero(wanted.view(-1)).view(-1) + block.start * n)
    return torch.cat(keys)


def entries_at(M: Tensor, rows: Array, columns: Array) -> Array:
    """Return entries of a matrix, in main memory."""
    i, j = (torch.as_tensor(k, dtype=torch.int64, device=M.device) for k in (rows, columns))
    return M[i, j].cpu().numpy()
