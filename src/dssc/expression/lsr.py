"""Least squares regression (LSR): a dense self-expression with a closed form."""

import numpy as np
from scipy import linalg, sparse

from dssc._memory import available_bytes, check_matrices
from dssc._typing import Array, Matrix
from dssc._validation import check_structure

# n x n matrices held at once with at most as many samples as features.
FROM_SAMPLES_MATRICES = 5
# The same number with more samples than features.
FROM_FEATURES_MATRICES = 1


def least_squares_representation(X: Matrix, eta1: float, weights: Array | None = None) -> Array:
    r"""Express every row of X by the other rows, with a ridge penalty.

    Solves the self-expression of the paper with :math:`\eta_3 = 0`, in row notation

    .. math:: \min_C \; \tfrac12 \|X - C X\|_F^2 + \tfrac{\eta_1}{2} \|C\|_F^2
              \quad \text{subject to } \mathrm{diag}(C) = 0 .

    The solution has a closed form, so C is returned without a certificate.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, of dtype float32 or float64.
    eta1 : float
        Weight of the penalty, positive; infinity gives the limit of ``eta1 C``, the cosines of
        the angles between unit rows. This is the `gamma` of :class:`dssc.LSR`: larger values fit
        less closely. The `gamma` of :class:`dssc.SSC` and :class:`dssc.EnSC` weighs the fit and
        acts in the opposite direction.
    weights : ndarray of shape (n_samples,), optional
        Positive weights. A row of weight p counts as p copies that do not express each other, and
        C holds the coefficient of each copy.

    Returns
    -------
    C : ndarray of shape (n_samples, n_samples)
        Coefficients in the dtype of X, with an exactly zero diagonal.

    Notes
    -----
    With ``h = X (X'X + eta1 I)^-1 X'`` the solution is ``C_ij = h_ij / (1 - h_ii)``: the fit
    without the constraint, divided by one minus the leverage as in leave-one-out regression. With
    ``P = (XX' + eta1 I)^-1`` it is ``-P_ij / P_ii``, since ``h = I - eta1 P``. The smaller of the
    two matrices is factorised. All computations are in float64.

    The coefficients of p equal copies with the sum c have the penalty ``c^2 / p``. So with weights
    w this is the problem of the rows ``sqrt(w_i) x_i`` for the unknowns ``sqrt(w_i w_j) C_ij``.
    """
    n, d = check_structure("X", X).shape
    check_matrices(
        "least squares regression",
        n,
        FROM_SAMPLES_MATRICES if n <= d else FROM_FEATURES_MATRICES,
        available_bytes(),
        "Use fewer samples, or ADSSC with more samples than features, which makes no such matrix",
    )
    if np.isinf(eta1):
        C = _gram(X)
    else:
        roots = np.ones(n) if weights is None else np.sqrt(weights)
        Z = X if weights is None else sparse.diags_array(roots) @ X.astype(np.float64)
        C = _from_samples(Z, eta1) if n <= d else _from_features(Z, eta1)
        if weights is not None:
            C /= roots[:, None]
            C /= roots
    np.fill_diagonal(C, 0.0)
    return C.astype(X.dtype, copy=False)


def _from_samples(X: Matrix, eta1: float) -> Array:
    """Factorise the n x n matrix ``XX' + eta1 I``."""
    identity = np.eye(X.shape[0])
    P = linalg.cho_solve(linalg.cho_factor(_gram(X) + eta1 * identity), identity)
    return -P / np.diag(P)[:, None]


def _from_features(X: Matrix, eta1: float) -> Array:
    """Factorise the d x d matrix ``X'X + eta1 I``."""
    factor = linalg.cholesky(_gram(X.T) + eta1 * np.eye(X.shape[1]), lower=True)
    rows = X.toarray() if sparse.issparse(X) else X
    B = linalg.solve_triangular(factor, rows.T.astype(np.float64), lower=True, overwrite_b=True)
    h = B.T @ B
    leverage = np.diag(h).copy()
    h /= (1.0 - leverage)[:, None]
    return h


def _gram(X: Matrix) -> Array:
    """Return ``XX'`` in float64."""
    X = X.astype(np.float64, copy=False)
    G = X @ X.T
    return G.toarray() if sparse.issparse(G) else G
