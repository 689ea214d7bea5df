"""Stochastic sparse self-expression: pursuit with dropout, and consensus (S3COMP)."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from dssc._validation import check_count, check_positive
from dssc.expression.dictionary import Dictionary
from dssc.expression.omp import pursue_all


def s3comp_representation(
    X,
    n_nonzero_coefs: int,
    *,
    n_subproblems: int = 15,
    dropout: float = 0.7,
    damping: float = 0.1,
    n_rounds: int = 1,
    tol: float = 1e-6,
    random_state=None,
) -> sparse.csr_array:
    r"""Express every row of X by few other rows, many times with random rows left out, and average.

    With T random sets of samples, :math:`X^{(t)}`, seeks in row notation

    .. math:: \min_{B, C^{(t)}} \; \sum_{t=1}^T \|X - C^{(t)} X^{(t)}\|_F^2
              + \lambda \|C^{(t)} - B\|_F^2 \quad \text{subject to } \|C_i^{(t)}\|_0 \le k, \;
              C_{ii}^{(t)} = 0

    by turns: every :math:`C^{(t)}` by orthogonal matching pursuit, pulled towards the consensus B
    but in the first turn, and B as their mean. Leaving samples out spreads the coefficients over
    more of a point's own subspace than one pursuit reaches.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (n_samples, n_features)
        Samples, of dtype float32 or float64.
    n_nonzero_coefs : int
        Most nonzeros of a row in one subproblem, k.
    n_subproblems : int, default=15
        Number of subproblems T.
    dropout : float, default=0.7
        Share of the samples a subproblem leaves out. One draw serves all rows of a subproblem, so
        that its pursuit is one product a step.
    damping : float, default=0.1
        Weight :math:`\lambda` of the consensus.
    n_rounds : int, default=1
        Turns after the first. With none, B is the mean of plain pursuits.
    tol : float, default=1e-6
        A row is finished when its residual is at most this share of the sample, in norm.
    random_state : int, RandomState instance or None, default=None
        Which samples are left out.

    Returns
    -------
    B : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The consensus, in the dtype of X.

    Notes
    -----
    Dropout as Chen, Li and You (CVPR 2020) define it divides the samples that are left by 1 -
    `dropout`. That multiplies B by the same number, and a weight of theirs times its square is
    `damping` here.

    The more is dropped, the denser B is and the more of it lies outside of a point's own subspace.
    On images of faces and objects .15 or .5 served best, with one to five coefficients and 50
    subproblems; more makes the subproblems of large data cheap.
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
    kept = [_kept(len(samples), dropout, rng) for _ in range(n_subproblems)]
    B = None
    for _ in range(1 + n_rounds):
        # One after the other: each has a copy of its atoms.
        solutions = (_pursue(samples, atoms, n_nonzero_coefs, tol, damping, B) for atoms in kept)
        B = sum(solutions, start=sparse.csr_array((len(samples),) * 2)) / n_subproblems
    return sparse.csr_array(B, dtype=whole.dtype)


def _kept(n_samples, dropout, rng):
    """Return the samples of a subproblem, in order; at least two."""
    n_kept = max(2, round((1 - dropout) * n_samples))
    return np.sort(rng.choice(n_samples, min(n_kept, n_samples), replace=False))


def _pursue(samples, kept, n_nonzero_coefs, tol, damping, consensus):
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
    return sparse.csr_array((C.data, kept[C.indices], C.indptr), shape=(len(samples),) * 2)
