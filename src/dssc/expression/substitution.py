"""Solving with a triangular matrix on several threads at once."""

import numpy as np
from scipy import linalg

DIAGONAL = 32  # rows of a block on the diagonal, which is inverted


class Substitution:
    """Solves systems with a lower triangular L, block by block.

    Nearly all of it is products, which threads can do at once: SciPy's solvers let one thread in at
    a time. Only small blocks on the diagonal are inverted, so that products of the solutions are as
    exact as by substitution row by row.
    """

    def __init__(self, L: np.ndarray):
        self.L = L
        self.blocks = [slice(i, min(i + DIAGONAL, len(L))) for i in range(0, len(L), DIAGONAL)]
        self.inverses = [
            linalg.solve_triangular(L[block, block], np.eye(block.stop - block.start), lower=True)
            for block in self.blocks
        ]

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Write ``L^-1 x`` in the place of every row x, and return them."""
        for block, inverse in zip(self.blocks, self.inverses, strict=True):
            known = slice(0, block.start)
            rows[:, block] -= rows[:, known] @ self.L[block, known].T
            rows[:, block] = rows[:, block] @ inverse.T
        return rows
