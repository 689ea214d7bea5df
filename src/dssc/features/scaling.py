"""Scaling samples to unit norm."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, gen_batches

BATCH = 2048


def unit_norm(X):
    """Return X with every row scaled to Euclidean norm one, in the dtype of X.

    A zero row has no direction: it raises an error that names the rows. Scaling a point does not
    change the subspace it lies in, so every method here starts with it.
    """
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    # Dividing by the largest entry first keeps squares of tiny or huge values in range.
    largest = _largest_of_rows(X)
    refuse_zeros(largest)
    X = _scale_rows(X, largest)
    norms = np.sqrt(X.multiply(X).sum(axis=1)) if sparse.issparse(X) else np.linalg.norm(X, axis=1)
    return _scale_rows(X, np.asarray(norms).ravel())


def check_no_zero_rows(X) -> None:
    """Raise the error of `unit_norm` on zero rows, without a copy of X."""
    refuse_zeros(np.concatenate([_largest_of_rows(X[b]) for b in gen_batches(X.shape[0], BATCH)]))


def _largest_of_rows(X):
    largest = abs(X).max(axis=1)
    return largest.toarray().ravel() if sparse.issparse(largest) else largest


def refuse_zeros(largest) -> None:
    """Raise an error that names the rows whose largest magnitude is zero."""
    zero = np.flatnonzero(largest == 0)
    if len(zero):
        shown = ", ".join(map(str, zero[:10])) + (", ..." if len(zero) > 10 else "")
        raise ValueError(
            f"X has {len(zero)} zero rows, which cannot be scaled to unit norm: {shown}; "
            "remove them"
        )


def _scale_rows(X, divisors):
    if sparse.issparse(X):
        X = X.copy()
        X.data /= np.repeat(divisors, np.diff(X.indptr)).astype(X.dtype)
        return X
    return X / divisors[:, None].astype(X.dtype)
