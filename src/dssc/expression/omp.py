"""Orthogonal matching pursuit of every sample by the others."""

import numpy as np
from scipy import sparse

from dssc._sparse import csr_of_parts
from dssc._typing import Array, Matrix
from dssc._validation import check_count, check_positive
from dssc.expression.dictionary import Dictionary
from dssc.kernels.pursuit import pursue
from dssc.result import RepresentationResult


def omp_representation(
    X: Matrix, n_nonzero_coefs: int, *, tol: float = 1e-6
) -> RepresentationResult:
    r"""Express every row of X greedily by at most `n_nonzero_coefs` of the other rows.

    Seeks, in row notation,

    .. math:: \min_C \; \|X - C X\|_F^2 \quad \text{subject to } \mathrm{diag}(C) = 0, \;
              \|C_i\|_0 \le k

    by orthogonal matching pursuit: in each of k steps the sample that correlates most with the
    residual joins a row's support, and the row is projected on its support.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, of dtype float32 or float64.
    n_nonzero_coefs : int
        Largest number of nonzeros per row, k.
    tol : float, default=1e-6
        A row is finished when the norm of its residual is at most this share of the sample's norm.

    Returns
    -------
    result : dssc.result.RepresentationResult
        C in CSR form and in the dtype of X, and the relative residual of every row. An iteration is
        a step that adds a sample to the support. `violations` is None: the problem is not convex,
        and a greedy solution meets no conditions of optimality.

    Notes
    -----
    A step is one product of all residuals with all samples, in float32 and a tile at a time. Only
    samples whose product is within the proven error of the largest are compared in float64, so the
    choice is that of float64. The factor of a row's Gram matrix grows by one row per step.
    """
    check_count("n_nonzero_coefs", n_nonzero_coefs)
    check_positive("tol", tol)
    dictionary = Dictionary(X)
    C = pursue_all(dictionary, dictionary.X, np.arange(len(dictionary)), n_nonzero_coefs, tol)
    C = C.astype(dictionary.dtype, copy=False)
    residuals = dictionary.relative_residuals(C)
    return RepresentationResult(
        representation=C,
        violations=None,
        residuals=residuals,
        n_iter=np.diff(C.indptr),
        converged=True,
        status=f"largest relative residual {residuals.max():.1e}, "
        f"n_nonzero_coefs={n_nonzero_coefs}",
    )


def pursue_all(
    dictionary: Dictionary,
    samples: Array,
    own: Array,
    n_nonzero_coefs: int,
    tol: float,
    *,
    damping: float = 0.0,
    prior: sparse.csr_array | None = None,
) -> sparse.csr_array:
    r"""Express every sample greedily by atoms of a dictionary, optionally close to a prior.

    With damping :math:`\lambda` and a prior :math:`b`, seeks for every sample x the row c with at
    most k nonzeros that minimises :math:`\|x - c D\|^2 + \lambda \|c - b\|^2`.

    Parameters
    ----------
    dictionary : Dictionary
        The atoms D.
    samples : ndarray of shape (n_samples, n_features)
        Samples, in float64.
    own : ndarray of shape (n_samples,)
        The atom that is the sample itself, which is not used; -1 where there is none.
    n_nonzero_coefs : int
        Largest number of nonzeros per row, k.
    tol : float
        Relative residual that ends the pursuit of a row.
    damping : float, default=0.0
        The weight of the prior.
    prior : scipy.sparse.csr_array of shape (n_samples, n_atoms), optional
        The prior, zero by default.

    Returns
    -------
    C : scipy.sparse.csr_array of shape (n_samples, n_atoms)
        Coefficients in float64.
    """
    shape = len(samples), len(dictionary)
    prior = sparse.csr_array(shape) if prior is None else prior
    parts = [
        _pursue_block(
            dictionary, samples[rows], own[rows], n_nonzero_coefs, tol, damping, prior[rows]
        )
        for rows in dictionary.blocks(len(samples))
    ]
    return sparse.vstack(parts, format="csr")


def _pursue_block(
    dictionary: Dictionary,
    targets: Array,
    own: Array,
    k: int,
    tol: float,
    damping: float,
    prior: sparse.csr_array,
) -> sparse.csr_array:
    n = len(targets)
    k = min(k, len(dictionary))
    factors = np.empty((n, k, k))
    support = np.zeros((n, k), dtype=np.int32)
    coefficients = np.zeros((n, k))
    sizes = np.zeros(n, dtype=np.int64)
    residuals = targets.copy()
    # The prior is added in float32, which adds a rounding error.
    rounding = damping * np.abs(prior.data).max(initial=0.0) * np.finfo(np.float32).eps
    rows = np.arange(n)
    for _ in range(k):
        products, errors = dictionary.products(residuals[rows])
        unfinished = np.empty(len(rows), dtype=np.bool_)
        pursue(
            dictionary.X,
            targets,
            own,
            rows,
            products,
            errors + rounding,
            damping,
            prior.indptr,
            prior.indices,
            prior.data,
            tol,
            factors,
            support,
            coefficients,
            sizes,
            residuals,
            unfinished,
        )
        rows = rows[unfinished]
        if len(rows) == 0:
            break
    kept = np.arange(k) < sizes[:, None]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    C = csr_of_parts(coefficients[kept], support[kept], indptr, (n, len(dictionary)))
    C.sort_indices()
    return C
