"""The inverse of a regularised Gram matrix."""

import numpy as np
from scipy import linalg

from dssc._typing import Array
from dssc.joint.blocks import row_blocks


def gram_inverse(X: Array, shift: float) -> Array:
    """Return ``(X X' + shift I)^-1`` in float64. One n x n matrix is allocated."""
    rows = X.astype(np.float64, copy=False)
    K = rows @ rows.T
    K.ravel()[:: len(K) + 1] += shift
    # K is symmetric: its transpose is in the order that LAPACK wants, and is not copied.
    factor = linalg.cholesky(K.T, lower=True, overwrite_a=True, check_finite=False)
    inverse, _ = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    for block in row_blocks(len(K), len(K)):  # LAPACK fills the lower part only
        inverse[: block.start, block] = inverse[block, : block.start].T
        own = np.tril(inverse[block, block])
        inverse[block, block] = own + np.tril(own, -1).T
    return inverse.T
