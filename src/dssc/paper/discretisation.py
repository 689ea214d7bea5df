"""Labels by rotating a spectral embedding towards indicators of clusters (Yu and Shi, 2003).

The code that Ji et al. published with DSC-Net ends with this step, as scikit-learn offers it.
"""

import numpy as np
from scipy import linalg

from dssc._typing import Array

# Most rotations; some tens are usual.
MOST_ROTATIONS = 100
# The rotations end once the sum of singular values changes by less than this share.
SMALLEST_CHANGE = 1e-12


def discretised_labels(rows: Array, rng: np.random.RandomState) -> Array:
    """Assign each row to a column of a rotated embedding.

    Two steps are repeated: each row gets the column of its largest entry as a label, and the
    rotation R is replaced by the one that maximises the fit ``trace(Y' rows R)`` to the indicators
    Y of the labels.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_clusters)
        Rows of the embedding, of unit norm.
    rng : RandomState
        Chooses the row that the first rotation starts from.

    Returns
    -------
    labels : ndarray of shape (n_samples,)
        Column of each row.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.6, 0.8], [0.6, 0.8], [-0.8, 0.6]])
    >>> labels = discretised_labels(rows, np.random.RandomState(0))
    >>> bool(labels[0] == labels[1] != labels[2])
    True
    """
    n_clusters = rows.shape[1]
    rotation = _distant_rows(rows, rng)
    fit = 0.0
    for _ in range(MOST_ROTATIONS):
        labels = np.argmax(rows @ rotation, axis=1)
        indicators = np.eye(n_clusters)[labels]
        left, singular_values, right = linalg.svd(indicators.T @ rows)
        previous, fit = fit, singular_values.sum()
        if abs(fit - previous) <= SMALLEST_CHANGE * fit:
            break
        rotation = (left @ right).T
    return labels


def _distant_rows(rows: Array, rng: np.random.RandomState) -> Array:
    """Return as columns a random row, and then always the row most orthogonal to those so far."""
    chosen = [rows[rng.randint(len(rows))]]
    cosines = np.zeros(len(rows))
    while len(chosen) < rows.shape[1]:
        cosines += np.abs(rows @ chosen[-1])
        chosen.append(rows[np.argmin(cosines)])
    return np.array(chosen).T
