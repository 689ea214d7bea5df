"""Anderson acceleration of a fixed-point iteration on a matrix, with little memory."""

import numpy as np

MEMORY = 2  # pairs of differences kept; more did not pay
WORSE = 2.0  # growth of the residual at which a step is taken back
IGNORED = 1e-10  # relative ridge of the small least-squares problem


class Anderson:
    """Chooses the next point z from the residuals F of ``z -> z + F(z)``.

    Of the points that a combination of the last steps leads to, it takes the one whose residual
    would be the smallest were F linear. A step after which the residual is much larger is replaced
    by the plain one. Differences are held in `store`, matrices of float32, two for each pair: the
    step that led here, and the change of F along it. Works on arrays and on tensors alike, a few
    rows at a time.
    """

    def __init__(self, store, blocks):
        self.steps, self.changes = store[0::2], store[1::2]
        self.blocks = blocks
        self.n_pairs = 0  # complete ones
        self.slot = -1  # the pair under way
        self.safe = np.inf  # the residual a bold step started from
        self.n_taken_back = 0

    def advance(self, z, F) -> None:
        """Move z on, in place. F is used up."""
        size = self._dot(F, F) ** 0.5
        if size > WORSE * self.safe:
            return self._take_back(z)
        weights = self._weights(F)
        self.safe = size if len(weights) else np.inf
        slot = self.slot = (self.slot + 1) % len(self.steps)
        for rows in self.blocks:
            step = F[rows]
            change = -step
            for k, weight in weights:
                step -= weight * self.steps[k][rows]
                step -= weight * self.changes[k][rows]
            z[rows] += step
            self.steps[slot][rows] = step
            self.changes[slot][rows] = change  # to which the next F is added
        return None

    def _weights(self, F):
        """Complete the pair under way; return (pair, weight) of the best combination."""
        if self.slot >= 0:
            for rows in self.blocks:
                self.changes[self.slot][rows] += F[rows]
            self.n_pairs = min(self.n_pairs + 1, len(self.steps))
        if self.n_pairs == 0:
            return []
        kept = [self.changes[k] for k in range(self.n_pairs)]
        gram = np.array([[self._dot(x, y) for y in kept] for x in kept])
        gram[np.diag_indices(len(gram))] *= 1.0 + IGNORED
        rhs = np.array([self._dot(x, F) for x in kept])
        weights = np.linalg.lstsq(gram, rhs, rcond=1e-12)[0]
        return list(enumerate(weights.tolist()))

    def _take_back(self, z):
        """Return to the last point, go the plain step from there, and forget."""
        step, change = self.steps[self.slot], self.changes[self.slot]
        for rows in self.blocks:
            z[rows] -= step[rows]
            z[rows] -= change[rows]  # holds minus the last F
        self.forget()
        self.n_taken_back += 1

    def forget(self):
        """Start anew from the current point."""
        self.n_pairs, self.slot, self.safe = 0, -1, np.inf

    def _dot(self, x, y):
        return float(sum((x[rows] * y[rows]).sum() for rows in self.blocks))
