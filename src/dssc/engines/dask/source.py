"""A Dask array as the source of samples."""

from typing import Any

import numpy as np
from dask.array.utils import meta_from_array

from dssc._cluster_rows import whole_rows


def check_source(X: Any) -> Any:
    """Return a Dask array of floats with one chunk per row; raise an error for other contents."""
    if X.ndim != 2:
        raise ValueError(
            f"X is a Dask array with {X.ndim} axis/axes; expected 2: one row per sample"
        )
    X = whole_rows(X)
    chunk = meta_from_array(X)
    if not isinstance(chunk, np.ndarray):
        raise ValueError(
            f"the chunks of X are of type {type(chunk).__name__}; make them arrays, for example "
            "by X.map_blocks(lambda chunk: chunk.toarray())"
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    return X
