"""A constant in all similarities, which does not change the plan but costs digits.

Potentials and slacks of ``K + c`` carry the leading digits of c along, and what is left of K after
them is rounded. So a large constant is subtracted first.
"""

from dataclasses import replace

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.result import ProjectionResult
from dssc.stochastic.certificate import rounding_gap

# Entries share an offset if they differ by less than this part of it. By Sterbenz's lemma the
# difference of two such numbers is exact, so nothing is lost by subtracting the offset.
NARROW = 1e-3


def without_offset(K: Matrix) -> tuple[Matrix, float]:
    """Return K less the constant that its entries have in common, and that constant.

    It is zero for an ordinary K, which is returned as it is, and for a sparse one, whose absent
    entries are zeros.
    """
    if sparse.issparse(K):
        return K, 0.0
    lowest, highest = K.min(), K.max()
    # Halves, because the difference of two large numbers of opposite sign may overflow.
    if not highest / 2 - lowest / 2 < NARROW / 2 * max(highest, -lowest):
        return K, 0.0
    offset = lowest if lowest > 0 else highest
    return K - offset, float(offset)


def shifted(potentials: tuple[Array, Array], offset: float) -> tuple[Array, Array]:
    """Return the potentials that belong to K when `offset` is added to all of it."""
    if offset == 0.0:
        return potentials
    alpha, beta = potentials
    return alpha + offset / 2, beta + offset / 2


def with_offset(result: ProjectionResult, offset: float, tol: float) -> ProjectionResult:
    """Return the result for K from the one for ``K - offset``.

    The constant rounds the potentials. Where they no longer prove the plan optimal to `tol`, the
    result is not converged.
    """
    if offset == 0.0:
        return result
    potentials = shifted(result.potentials, offset)
    values = result.plan.data if sparse.issparse(result.plan) else result.plan
    largest = float(values.max())  # as the unit: squares of tiny marginals would vanish
    # Two potentials of about half the offset, each rounded by half a unit in the last place.
    resolution = 0.5 * np.finfo(float).eps * abs(offset) / result.eta2
    squares = float(np.sum((values / largest) ** 2))
    gap = result.gap + rounding_gap(int(np.count_nonzero(values)), squares, resolution / largest)
    if not result.converged or gap <= tol:
        return replace(result, potentials=potentials, gap=gap)
    status = (
        f"not converged: gap {gap:.1e}, wanted tol={tol:.1e}; beside the constant {offset:.3g} in "
        f"K, float64 resolves potentials only to {resolution:.1e} * eta2: subtract it from K"
    )
    return replace(result, potentials=potentials, gap=gap, converged=False, status=status)
