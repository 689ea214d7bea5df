"""Low-rank subspace clustering (LRSC): a closed form in the singular values."""

import numpy as np
from scipy import linalg, sparse

from dssc._typing import Array, Matrix
from dssc._validation import check_positive, check_structure

# Most steps of Newton's method for the singular values.
MAX_NEWTON_STEPS = 100


def low_rank_representation(X: Matrix, tau: float, alpha: float) -> Array:
    r"""Express denoised rows of X by each other, with coefficients of low rank.

    Solves the noisy, relaxed problem of LRSC, in row notation

    .. math:: \min_{A, C} \; \|C\|_* + \tfrac{\tau}{2} \|A - C A\|_F^2
              + \tfrac{\alpha}{2} \|X - A\|_F^2 \quad \text{subject to } C = C^\top .

    The solution has a closed form in the singular values of X, so C is returned without a
    certificate.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, of dtype float32 or float64.
    tau : float
        Weight of the self-expression, positive. Larger values give C a higher rank.
    alpha : float
        Weight of the fit to X, positive.

    Returns
    -------
    C : ndarray of shape (n_samples, n_samples)
        Coefficients in the dtype of X. The problem does not require a zero diagonal, and the
        diagonal of C is not zero.

    Notes
    -----
    A and X share singular vectors. For a singular value l of A, the best coefficient along its
    vector is ``1 - 1 / (tau l^2)`` if l exceeds ``1 / sqrt(tau)``, and zero otherwise. Its cost
    plus ``alpha / 2 (s - l)^2``, for the singular value s of X, is minimised over l. This function
    can have a minimum on either side of the threshold, and the lower one is taken.
    """
    check_positive("tau", tau)
    check_positive("alpha", alpha)
    if not np.finfo(float).smallest_normal <= tau * alpha < np.inf:
        raise ValueError(
            f"tau={tau!r} times alpha={alpha!r} is {tau * alpha!r} in float64, out of range; "
            "take values closer to one"
        )
    check_structure("X", X)
    rows = X.toarray() if sparse.issparse(X) else X
    V, s, _ = linalg.svd(rows.astype(np.float64), full_matrices=False)
    weights = _weights(s, tau, alpha)
    kept = weights > 0
    C = (V[:, kept] * weights[kept]) @ V[:, kept].T
    return C.astype(X.dtype, copy=False)


def _weights(s: Array, tau: float, alpha: float) -> Array:
    """Return the eigenvalue of C for each singular value of X."""
    small = alpha * s / (alpha + tau)
    cost_small = alpha / 2 * (s - small) ** 2 + tau / 2 * small**2
    cost_small[small > 1 / np.sqrt(tau)] = np.inf
    large = _largest_root(s, 1 / (alpha * tau))
    with np.errstate(divide="ignore"):
        cost_large = alpha / 2 * (s - large) ** 2 + 1 - 1 / (2 * tau * large**2)
        cost_large[~(large > 1 / np.sqrt(tau))] = np.inf
        return np.where(cost_large < cost_small, 1 - 1 / (tau * large**2), 0.0)


def _largest_root(s: Array, k: float) -> Array:
    """Return the largest root l of ``l + k / l^3 = s``, or zero where there is none.

    The left side is convex in l, so Newton's method from s decreases monotonically to that root.
    """
    least = (3 * k) ** 0.25  # where the left side is smallest
    exists = s >= least + k / least**3
    root = np.where(exists, s, 0.0)
    for _ in range(MAX_NEWTON_STEPS):
        x = root[exists]
        slope = 1 - 3 * k / x**4
        step = np.divide(x + k / x**3 - s[exists], slope, out=np.zeros_like(x), where=slope > 0)
        root[exists] = np.maximum(x - step, least)
        if np.all(np.abs(step) <= 1e-15 * x):
            break
    return root
