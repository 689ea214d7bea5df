"""Projecting a square matrix on the matrices whose rows and columns sum to one."""

from dssc._typing import Array


def correction(X: Array) -> tuple[Array, Array]:
    """Return what to add to each row and each column of X.

    The projection differs from X by ``r_i + c_j``. Asking for the marginals gives
    ``n r_i + sum(c) = 1 - row sum i`` and the same for columns. The constant that can move between
    r and c is split evenly.
    """
    n = len(X)
    rows = (1.0 - X.sum(axis=1)) / n
    columns = (1.0 - X.sum(axis=0)) / n
    shared = rows.mean() / 2
    return rows - shared, columns - shared
