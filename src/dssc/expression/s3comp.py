"""Stochastic sparse self-expression by consensus of pursuits with dropout (S3COMP)."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from dssc._sparse import csr_of_parts
from dssc._typing import Array, Matrix, RandomState
from dssc._validation import check_count, check_positive
from dssc.expression.dictionary import Dictionary
from dssc.expression.omp import pursue_all
from dssc.result import RepresentationResult


def s3comp_representation(
    X: Matrix,
    n_nonzero_coefs: int,
    *,
    n_subproblems: int = 15,
    dropout: float = 0.7,
    damping: float = 0.1,
    n_rounds: int = 1,
    tol: float = 1e-6,
    random_state: RandomState = None,
) -> RepresentationResult:
    r"""Express every row of X by few others, repeatedly with random rows left out, and average.

    With T random sets of samples, :math:`X^{(t)}`, seeks, in row notation,

    .. math:: \min_{B, C^{(t)}} \; \sum_{t=1}^T \|X - C^{(t)} X^{(t)}\|_F^2
              + \lambda \|C^{(t)} - B\|_F^2 \quad \text{subject to } \|C_i^{(t)}\|_0 \le k, \;
              C_{ii}^{(t)} = 0

    by alternating: every :math:`C^{(t)}` comes from orthogonal matching pursuit, kept close to the
    consensus B after the first round, and B is their mean. Leaving samples out spreads the
    coefficients over more of a point's own subspace than a single pursuit reaches.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, of dtype float32 or float64.
    n_nonzero_coefs : int
        Largest number of nonzeros per row in one subproblem, k.
    n_subproblems : int, default=15
        Number of subproblems T.
    dropout : float, default=0.7
        Share of the samples that a subproblem leaves out. All rows of a subproblem share one draw,
        so that a step of its pursuit is one product.
    damping : float, default=0.1
        Weight :math:`\lambda` of the consensus.
    n_rounds : int, default=1
        Number of rounds after the first. With 0, B is the mean of plain pursuits.
    tol : float, default=1e-6
        A row is finished when the norm of its residual is at most this share of the sample's norm.
    random_state : int, RandomState instance or None, default=None
        Determines which samples are left out.

    Returns
    -------
    result : dssc.result.RepresentationResult
        The consensus B in CSR form and in the dtype of X, and the relative residual
        ``|x_i - B_i X| / |x_i|`` of every row. An iteration is a round over all subproblems.
        `violations` is None: the problem is not convex, and a greedy solution meets no conditions
        of optimality.

    Notes
    -----
    Chen, Li and You (CVPR 2020) divide the samples that remain by 1 - `dropout`. This multiplies
    B by 1 - `dropout`, and their weight times the square of 1 - `dropout` is `damping` here.

    The more samples are dropped, the denser B is, and the more of it lies outside of a point's own
    subspace. On images of faces and objects a dropout of .15 or .5 works best, with one to five
    coefficients and 50 subproblems. A higher dropout makes the subproblems of large data cheap.
    """
    for name, value in (("n_nonzero_coefs", n_nonzero_coefs), ("n_subproblems", n_subproblems)):
        check_count(name, value)
    check_positive("damping", damping)
    check_positive("tol", tol)
    if not 0 <= dropout < 1:
        raise ValueError(f"dropout={dropout!r} must be at least 0 and less than 1")
    if n_rounds != 0:
        check_count("n_rounds", n_rounds)
    rng = check_random_state(random_state)
    whole = Dictionary(X)
    samples, damping = whole.X, damping / whole.scale**2
    kept = [draw_samples(len(samples), dropout, rng) for _ in range(n_subproblems)]
    B = None
    for _ in range(1 + n_rounds):
        # One after the other, since each subproblem has a copy of its atoms.
        solutions = (_pursue(samples, atoms, n_nonzero_coefs, tol, damping, B) for atoms in kept)
        B = sum(solutions, start=sparse.csr_array((len(samples),) * 2)) / n_subproblems
    B = sparse.csr_array(B, dtype=whole.dtype)
    residuals = whole.relative_residuals(B)
    return RepresentationResult(
        representation=B,
        violations=None,
        residuals=residuals,
        n_iter=np.full(len(samples), 1 + n_rounds),
        converged=True,
        status=f"largest relative residual {residuals.max():.1e}, n_rounds={n_rounds}",
    )


def draw_samples(n_samples: int, dropout: float, rng: np.random.RandomState) -> Array:
    """Return the samples of a subproblem, in order; at least two."""
    n_kept = max(2, round((1 - dropout) * n_samples))
    return np.sort(rng.choice(n_samples, min(n_kept, n_samples), replace=False))


def _pursue(
    samples: Array,
    kept: Array,
    n_nonzero_coefs: int,
    tol: float,
    damping: float,
    consensus: sparse.csr_array | None,
) -> sparse.csr_array:
    """Return C of one subproblem over all samples, zero for those left out."""
    own = np.full(len(samples), -1)
    own[kept] = np.arange(len(kept))
    if consensus is None:
        damping, prior = 0.0, None
    else:
        prior = sparse.csr_array(consensus.tocsc()[:, kept])
    C = pursue_all(
        Dictionary(samples[kept], scale=1.0),
        samples,
        own,
        n_nonzero_coefs,
        tol,
        damping=damping,
        prior=prior,
    )
    return csr_of_parts(C.data, kept[C.indices], C.indptr, (len(samples),) * 2)
