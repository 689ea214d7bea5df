"""Making sparse matrices that other libraries accept."""

import numpy as np
from scipy import sparse

from dssc._typing import Array

LARGEST_SHORT_INDEX = np.iinfo(np.int32).max


def csr_of_parts(
    values: Array, indices: Array, indptr: Array, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return a CSR matrix with 32-bit indices if they fit.

    SciPy keeps 64-bit offsets, which NumPy's sums and searches return, and widens the column
    numbers to them. That takes more memory, and scikit-learn refuses such matrices in many places.
    """
    index = np.int32 if max(len(indices), *shape) <= LARGEST_SHORT_INDEX else np.int64
    parts = values, indices.astype(index, copy=False), indptr.astype(index, copy=False)
    return sparse.csr_array(parts, shape=shape)
