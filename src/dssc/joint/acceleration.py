"""Anderson acceleration of a fixed-point iteration on a matrix, with little memory."""

from typing import Generic

import numpy as np

from dssc.joint.array_types import ArrayT

# Pairs of differences that are remembered. More did not help.
MEMORY = 2
# A step is taken back if it makes the residual larger by this factor.
GROWTH_LIMIT = 2.0
# Relative ridge of the small least-squares problem.
RIDGE = 1e-10


class Anderson(Generic[ArrayT]):
    """Chooses the next point z from the residuals F of ``z -> z + F(z)``.

    Among the points to which a combination of the last steps leads, it takes the one whose
    residual would be the smallest if F were linear. A step after which the residual is much larger
    is replaced by the plain one. The differences are held in `store`, float32 matrices, two for
    each pair: the step that led to the current point, and the change of F along it. `blocks` are
    the slices of rows that are processed one after another.

    Attributes
    ----------
    slot : int
        Number of the pair whose step was taken last; -1 if there is none.
    weights : list of (int, float)
        Pairs that the last step combined, with their weights.
    """

    def __init__(self, store: list[ArrayT], blocks: list[slice]):
        self.steps, self.changes = store[0::2], store[1::2]
        self.blocks = blocks
        self.restart()

    def restart(self) -> None:
        """Forget all pairs and start again from the current point."""
        self.n_pairs = 0  # complete ones
        self.slot = -1
        self.last_residual = np.inf  # before the last step, if that was not a plain one
        self.weights: list[tuple[int, float]] = []

    def advance(self, z: ArrayT, F: ArrayT) -> None:
        """Move z to the next point, in place. F is overwritten."""
        residual = self._dot(F, F) ** 0.5
        if residual > GROWTH_LIMIT * self.last_residual:
            self._take_back(z)
            return
        self.weights = self._best_weights(F)
        self.last_residual = residual if self.weights else np.inf
        slot = self.slot = (self.slot + 1) % len(self.steps)
        for rows in self.blocks:
            step, part = F[rows], z[rows]
            change = -step
            for k, weight in self.weights:
                step -= weight * self.steps[k][rows]
                step -= weight * self.changes[k][rows]
            part += step
            self.steps[slot][rows] = step
            self.changes[slot][rows] = change  # the next F is added to it

    def _best_weights(self, F: ArrayT) -> list[tuple[int, float]]:
        """Complete the last pair; return (pair, weight) of the best combination."""
        if self.slot >= 0:
            for rows in self.blocks:
                self.changes[self.slot][rows] += F[rows]
            self.n_pairs = min(self.n_pairs + 1, len(self.steps))
        if self.n_pairs == 0:
            return []
        changes = self.changes[: self.n_pairs]
        gram = np.empty((self.n_pairs, self.n_pairs))
        for k, x in enumerate(changes):
            for m, y in enumerate(changes[: k + 1]):
                gram[k, m] = gram[m, k] = self._dot(x, y)
        gram[np.diag_indices(len(gram))] *= 1.0 + RIDGE
        rhs = np.array([self._dot(x, F) for x in changes])
        weights = np.linalg.lstsq(gram, rhs, rcond=1e-12)[0]
        return list(enumerate(weights.tolist()))

    def _take_back(self, z: ArrayT) -> None:
        """Return to the last point, take the plain step from there, and forget all pairs."""
        step, change = self.steps[self.slot], self.changes[self.slot]
        for rows in self.blocks:
            z[rows] -= step[rows]
            z[rows] -= change[rows]  # minus the last F
        self.restart()

    def _dot(self, x: ArrayT, y: ArrayT) -> float:
        return float(sum((x[rows] * y[rows]).sum() for rows in self.blocks))
