"""A number for every row of a matrix, computed batch by batch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import gen_batches

from dssc import kernels
from dssc._cluster_rows import BATCH, ClusterRows
from dssc._threads import block_threads
from dssc._typing import Array


def map_rows(X: Any, function: Callable[[Array], Array], name: str) -> Array:
    """Return one number per row of an array, by a function of rows that is called for each batch.

    Batches of an array are shared out among threads, and those of rows on a cluster among its
    workers, in tasks with a `name`.
    """
    if isinstance(X, ClusterRows):
        return X.map_rows(function, name)
    n, d = X.shape
    batches = (X[batch] for batch in gen_batches(n, BATCH))
    with block_threads(kernels.python_threads_worth(n * d)) as in_threads:
        return np.concatenate(list(in_threads(function, batches)))
