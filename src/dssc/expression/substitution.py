"""Triangular systems that several threads can solve at once."""

import numpy as np
from scipy import linalg

from dssc._typing import Array

# Rows of a block on the diagonal. Only these blocks are inverted.
DIAGONAL = 32


class Substitution:
    """Solves systems with a lower triangular matrix L, block by block.

    Nearly all of the work is matrix products, which several threads can do at once; SciPy's solvers
    allow one thread at a time. Only small blocks on the diagonal are inverted, so that products of
    the solutions are as exact as those of a substitution row by row.
    """

    def __init__(self, L: Array):
        self.L = L
        self.blocks = [slice(i, min(i + DIAGONAL, len(L))) for i in range(0, len(L), DIAGONAL)]
        self.inverses = [
            linalg.solve_triangular(L[block, block], np.eye(block.stop - block.start), lower=True)
            for block in self.blocks
        ]

    def __call__(self, rows: Array) -> Array:
        """Overwrite every row x by ``L^-1 x``, and return the rows."""
        scratch = np.empty(len(rows) * DIAGONAL)  # fresh memory for every product takes longer
        for block, inverse in zip(self.blocks, self.inverses, strict=True):
            own, known = rows[:, block], slice(0, block.start)
            product = scratch[: own.size].reshape(own.shape)
            own -= np.matmul(rows[:, known], self.L[block, known].T, out=product)
            own[:] = np.matmul(own, inverse.T, out=product)
        return rows
