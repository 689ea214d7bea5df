"""Methods of a fitted estimator over the chunks of a Dask array."""

from typing import Any

import numpy as np

from dssc._typing import Array
from dssc.estimators.shapes import refuse_images


def map_chunks(estimator: Any, method: str, X: Any, n_columns: int | None = None) -> Any:
    """Return the results of a method for all rows of a Dask array, as another Dask array.

    The estimator travels to every worker once. A result has `n_columns` columns, or no second axis
    if this is None.
    """
    import dask

    from dssc.engines.dask.source import check_source

    refuse_images(X)
    X = check_source(X)
    columns: dict[str, Any] = (
        {"drop_axis": 1} if n_columns is None else {"chunks": (X.chunks[0], (n_columns,))}
    )
    dtype = {"predict": estimator.labels_.dtype, "outlier_scores": np.float64}.get(method, X.dtype)
    return X.map_blocks(
        _call,
        method=method,
        estimator=dask.delayed(estimator),
        dtype=dtype,
        meta=np.empty((0,) * (1 if n_columns is None else 2), dtype=dtype),
        **columns,
    )


def _call(rows: Array, method: str, estimator: Any) -> Array:
    return getattr(estimator, method)(rows)
