"""The front door of quadratically regularised optimal transport."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from dssc._typing import Array, Matrix
from dssc._validation import as_floats, check_count, check_positive
from dssc._warnings import warn_user
from dssc.result import ProjectionResult
from dssc.stochastic.feasibility import check_support
from dssc.stochastic.offset import shifted, with_offset, without_offset
from dssc.stochastic.problem import ProjectionProblem, check_potentials, check_similarity


def quadratic_transport(
    K: ArrayLike | Matrix,
    reg: float,
    a: ArrayLike | None = None,
    b: ArrayLike | None = None,
    *,
    support: Any = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    potentials: tuple[ArrayLike, ArrayLike] | None = None,
) -> ProjectionResult:
    r"""Solve quadratically regularised optimal transport, with a certificate.

    .. math:: \min_A \; -\langle K, A \rangle + \tfrac{\mathrm{reg}}{2} \|A\|_F^2
              \quad \text{subject to } A \ge 0, \; A 1 = a, \; A^\top 1 = b .

    With a cost matrix M, pass ``K = -M``. The doubly stochastic projection is the case of unit
    marginals.

    Parameters
    ----------
    K : array-like or sparse matrix of shape (n, m)
        Similarities (negative costs). An absent entry of a sparse matrix is a similarity of zero.
    reg : float
        Regularisation; must be positive.
    a, b : array-like of shape (n,) and (m,), optional
        Positive marginals of equal sums; ``1 / n`` and ``1 / m`` when not given.
    support : sparse matrix of shape (n, m), optional
        Its nonzeros are the only entries that A may use. A pattern that cannot carry the marginals
        raises an error that names a row.
    tol : float, default=1e-8
        Largest error of a row or column sum, relative to the mean row sum, and largest duality gap
        in units of ``reg * |A|_F^2``.
    max_iter : int, default=1000
        Most Newton steps.
    potentials : tuple of two array-likes of shape (n,) and (m,), optional
        Where to start.

    Returns
    -------
    ProjectionResult
        The plan, its potentials, and the certificate for all entries; `marginal_error` is relative
        to the mean row sum.

    Examples
    --------
    >>> import numpy as np
    >>> from dssc import quadratic_transport
    >>> cost = np.array([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])
    >>> result = quadratic_transport(-cost, reg=0.1, a=[0.5, 0.5], b=[0.4, 0.2, 0.4])
    >>> np.round(result.plan, 3)
    array([[0.4, 0.1, 0. ],
           [0. , 0.1, 0.4]])
    """
    reg = check_positive("reg", reg)
    tol = check_positive("tol", tol)
    max_iter = check_count("max_iter", max_iter)
    K, offset = without_offset(check_similarity(K))
    marginals = check_marginals(a, b, K.shape)
    if support is not None:
        support = check_support(support, K.shape, marginals)
    check_regularisation(reg, float(marginals[0].mean()))
    start = check_potentials(potentials, K.shape)
    start = None if start is None else shifted(start, -offset)
    problem = ProjectionProblem.of_matrix(K, marginals, support)
    result = problem.solve(reg, tol=tol, max_iter=max_iter, potentials=start)
    result = with_offset(result, offset, tol)
    if not result.converged:
        warn_user(result.status, ConvergenceWarning)
    return result


def check_regularisation(reg: float, mean: float) -> None:
    """Raise an error if `reg`, in units of plans with a mean row sum of one, is out of range."""
    with np.errstate(over="ignore", under="ignore"):
        scaled = reg * mean
    if not np.finfo(float).smallest_normal <= scaled < np.inf:
        raise ValueError(
            f"reg={reg!r} times the mean of a, {mean!r}, is {scaled!r} in float64, out of range; "
            "change the scale of reg, or that of a and b"
        )


def check_marginals(
    a: ArrayLike | None, b: ArrayLike | None, shape: tuple[int, int]
) -> tuple[Array, Array]:
    """Return two positive vectors of equal sums that fit a matrix."""
    given = [
        np.full(length, 1.0 / length) if vector is None else as_floats(name, vector)
        for name, vector, length in zip("ab", (a, b), shape, strict=True)
    ]
    for name, vector, length in zip("ab", given, shape, strict=True):
        if vector.shape != (length,):
            raise ValueError(f"{name} must have length {length}; its shape is {vector.shape}")
        bad = np.flatnonzero(~((vector > 0) & np.isfinite(vector)))
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] = {vector[bad[0]]} must be positive and finite")
        lost = np.flatnonzero(vector < np.finfo(float).smallest_normal * vector.max())
        if len(lost):
            raise ValueError(
                f"{name}[{lost[0]}] = {vector[lost[0]]} is nothing beside the largest entry, "
                f"{vector.max()}, in float64; leave it out of {name} and K"
            )
    with np.errstate(over="ignore"):  # an infinite sum gets an error of its own
        totals = [float(vector.sum()) for vector in given]
    if not np.isfinite(max(totals)):
        raise ValueError(
            f"marginals are too large: a sums to {totals[0]!r} and b to {totals[1]!r}; divide both "
            "by a common factor, and multiply reg by it"
        )
    if abs(totals[0] - totals[1]) > 1e-9 * max(totals):
        raise ValueError(
            f"marginals are infeasible: a sums to {totals[0]!r} and b to {totals[1]!r}; "
            "scale one of them"
        )
    return given[0], given[1] * (totals[0] / totals[1])
