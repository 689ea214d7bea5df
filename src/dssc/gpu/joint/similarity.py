"""Looking for large entries of a matrix on a device; the projection of one."""

import numpy as np
import torch
from scipy import sparse

from dssc.gpu.joint.blocks import blocks
from dssc.stochastic.similarity import Missing, Places, Similarity, filled
from dssc.stochastic.support import Support, pattern_at

FIRST_NEIGHBORS = 32
MARGIN = 0.05  # in units of the entries of A: what joins the support with the positive ones


class DeviceSimilarity(Similarity):
    """A dense nonnegative K on a device, which is read as a whole at every turn."""

    symmetric = False

    def __init__(self, K):
        self.K = K
        self.shape = tuple(K.shape)

    @property
    def largest(self) -> float:
        """The largest entry."""
        return float(self.K.max())

    def start(self, eta2, feasible, held, potentials):
        """Return the support that given potentials speak for, or else the largest entries."""
        start = super().start(eta2, feasible, held, potentials)
        if potentials is None:
            return start
        return start._replace(
            support=start.support.extended(*self.missing(start.support, potentials, eta2)[:3])
        )

    def first_support(self, eta2: float, feasible: Places) -> Support:
        """Return the largest entries of each row and column, and the feasible ones."""
        i, j = np.divmod(largest_keys(self.K, FIRST_NEIGHBORS).cpu().numpy(), self.shape[0])
        pattern = pattern_at(i, j, self.shape) + pattern_at(*feasible, self.shape)
        return filled(sparse.csr_array(pattern), self)

    def missing(self, support, potentials, eta2) -> Missing:
        """Read all of K."""
        alpha, beta = potentials
        keys = keys_above(self.K, -alpha, -beta, -MARGIN * eta2).cpu().numpy()
        i, j = support.not_held(*np.divmod(keys, self.shape[0]))
        values = self.at(i, j)
        if not np.any(values > alpha[i] + beta[j]):
            i, j, values = i[:0], j[:0], values[:0]
        return Missing(i, j, values, self.shape[0])

    def at(self, rows, columns):
        """Return K's entries in float64."""
        return entries_at(self.K, rows, columns).astype(np.float64)

    def largest_entries(self, count):
        """Return the largest entries of each row, in falling order."""
        return torch.topk(self.K, count, dim=1)[0].double().cpu().numpy()


def largest_keys(M, count):
    """Return keys ``i n + j`` of the diagonal and of each row's and column's largest magnitudes."""
    n = len(M)
    count = min(count, n - 1)
    own = torch.arange(n, device=M.device)
    found = [own * (n + 1)]
    for transposed in (False, True):
        part = M.T if transposed else M
        for rows in blocks(n):
            sizes = part[rows].abs()
            sizes.diagonal(rows.start).fill_(-1.0)
            columns = torch.topk(sizes, count, dim=1)[1].view(-1)
            at = own[rows].repeat_interleave(count)
            found.append(columns * n + at if transposed else at * n + columns)
    return torch.unique(torch.cat(found))


def keys_above(M, rows, columns, limit):
    """Return keys of places with ``|M| + rows + columns > limit`` or ``rows + columns > 0``.

    Places on the diagonal always count.
    """
    n = len(M)
    rows, columns = (torch.as_tensor(x, device=M.device) for x in (rows, columns))
    found = []
    for block in blocks(n):
        p = rows[block, None] + columns
        wanted = p > 0.0
        wanted |= p.add_(M[block].abs()) > limit
        wanted.diagonal(block.start).fill_(True)
        found.append(torch.nonzero(wanted.view(-1)).view(-1) + block.start * n)
    return torch.cat(found)


def entries_at(M, i, j):
    """Return entries of a matrix, in main memory."""
    at = (torch.as_tensor(k, dtype=torch.int64, device=M.device) for k in (i, j))
    return M[tuple(at)].cpu().numpy()
