"""A spectral embedding in which squared distances are commute times of a random walk."""

import numpy as np

from dssc._typing import Array
from dssc.spectral.fading import DISTANCE_FLOOR


def commute_time_embedding(
    vectors: Array, eigenvalues: Array, degrees: Array | None = None
) -> Array:
    """Return the leading eigenvectors of an affinity, scaled by commute times.

    The random walk goes from point i to point j with probability A_ij. The squared distance of two
    rows of ``v_i / sqrt(1 - l_i)``, over all eigenvectors but the constant one, is the expected
    time from one point to the other and back, up to a factor (Fouss et al., 2007). 1e-3 is added to
    ``1 - l_i``. Unlike weights that are one up to the k-th eigenvector, these need no k.

    Parameters
    ----------
    vectors : ndarray of shape (n_samples, n_components)
        Eigenvectors, one per column, those of connected components first. Rows may be zero.
    eigenvalues : ndarray of shape (n_components,)
        Those of the columns.
    degrees : ndarray of shape (n_samples,), optional
        Sums of the rows of the affinity, if they are not one.
    """
    distances = np.maximum(1.0 - eigenvalues, 0.0) + DISTANCE_FLOOR
    roots = np.ones(len(vectors)) if degrees is None else np.sqrt(degrees)
    constant = np.where(np.any(vectors, axis=1), roots, 0.0)
    # With several components no column is constant, but a sum of columns is.
    without = vectors - np.outer(constant, constant @ vectors) / (constant @ constant)
    return without / np.sqrt(distances)
