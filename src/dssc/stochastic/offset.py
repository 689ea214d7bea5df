"""A constant in all similarities, which does not change the plan but costs digits.

Potentials and slacks of ``K + c`` carry the leading digits of c along, and what is left of K after
them is rounded. So a large constant is subtracted first.
"""

from scipy import sparse

from dssc._typing import Array, Matrix

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
