"""Methods of a fitted estimator over the chunks of a Dask array."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dssc._typing import Array
from dssc.estimators.shapes import refuse_images


def map_chunks(estimator: Any, method: str, X: Any, n_columns: int | None = None) -> Any:
    """Return the results of a method for all rows of a Dask array, as another Dask array.

    The estimator travels to every worker once. A result has `n_columns` columns, or no second axis
    if this is None.
    """
    import dask

    from dssc.engines.dask.source import check_source

    check_is_fitted(estimator)
    refuse_images(X)
    X = check_source(X)
    columns: dict[str, Any] = (
        {"drop_axis": 1} if n_columns is None else {"chunks": (X.chunks[0], (n_columns,))}
    )
    dtype = {"predict": estimator.labels_.dtype, "outlier_scores": np.float64}.get(method, X.dtype)
    return X.map_blocks(
        _call,
        method=method,
        estimator=dask.delayed(_without_cluster(estimator)),
        dtype=dtype,
        meta=np.empty((0,) * (1 if n_columns is None else 2), dtype=dtype),
        **columns,
    )


def _without_cluster(estimator: Any) -> Any:
    """Return an estimator whose points are here, not on the workers.

    Pickling would bring them here, too. But Dask pickles under a lock for which its own thread can
    wait, and then nothing arrives.
    """
    fitted = getattr(estimator, "_fitted_clusters", None)
    if fitted is None:
        return estimator
    estimator = copy(estimator)
    estimator._fitted_clusters = fitted.in_memory()
    return estimator


def _call(rows: Array, method: str, estimator: Any) -> Array:
    return getattr(estimator, method)(rows)
