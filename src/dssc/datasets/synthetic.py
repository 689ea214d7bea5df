"""Points drawn from a union of random subspaces."""

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from dssc._typing import Array, RandomState
from dssc._validation import check_nonnegative
from dssc.subspaces import unit_rows


def make_union_of_subspaces(
    n_samples: int = 300,
    *,
    n_subspaces: int = 3,
    dimension: int | Sequence[int] = 3,
    n_features: int = 20,
    noise: float = 0.0,
    affine: bool = False,
    random_state: RandomState = None,
) -> tuple[Array, Array]:
    """Draw points from random low-dimensional subspaces.

    Parameters
    ----------
    n_samples : int, default=300
        Number of points, divided among the subspaces as evenly as possible.
    n_subspaces : int, default=3
        Number of subspaces.
    dimension : int or sequence of int, default=3
        Dimension of the subspaces: one number for all, or one for each.
    n_features : int, default=20
        Dimension of the space that contains them.
    noise : float, default=0.0
        Expected norm of the Gaussian noise that is added to each point of unit norm.
    affine : bool, default=False
        Whether to shift each subspace by a random vector of unit norm.
    random_state : int, RandomState instance or None, default=None
        Seed or generator; pass an int for reproducible data.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        Points, in random order.
    y : ndarray of shape (n_samples,)
        The subspace of each point.
    """
    if n_samples < n_subspaces or n_subspaces < 1:
        raise ValueError(f"n_samples={n_samples} must be at least n_subspaces={n_subspaces} >= 1")
    dimensions = np.atleast_1d(dimension)
    if len(dimensions) not in (1, n_subspaces):
        raise ValueError(
            f"dimension={dimension} must be one number or one for {n_subspaces} subspaces"
        )
    dimensions = np.broadcast_to(dimensions, (n_subspaces,))
    if dimensions.min() < 1 or dimensions.max() > n_features:
        raise ValueError(f"dimension={dimension} must lie between 1 and n_features={n_features}")
    check_nonnegative("noise", noise)
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_samples) % n_subspaces)
    X = np.empty((n_samples, n_features))
    for label, d in enumerate(dimensions):
        members = np.flatnonzero(y == label)
        basis, _ = np.linalg.qr(rng.standard_normal((n_features, d)))
        X[members] = unit_rows(rng.standard_normal((len(members), d))) @ basis.T
        if affine:
            X[members] += unit_rows(rng.standard_normal((1, n_features)))
    X += noise / np.sqrt(n_features) * rng.standard_normal(X.shape)
    return X, y
