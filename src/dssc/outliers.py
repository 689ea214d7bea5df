"""How sure the cluster of a point is, and how far the point is from all others.

Both are read off a doubly stochastic affinity ``A = [K - alpha 1' - 1 alpha']_+ / eta2``. The share
of a point's row inside its cluster says whether the point is between clusters. Its potential alpha
says how similar it is to anything: every row has the same sum, so a point whose similarities are
all small needs a low potential.
"""

from typing import NamedTuple

import numpy as np

from dssc._typing import Array, Matrix
from dssc._validation import check_nonnegative

# Median absolute deviation of a normal distribution, as a share of its standard deviation.
NORMAL_DEVIATION = 0.6745
# Smallest spread of potentials, relative to eta2: less changes no entry of A by more than this.
SMALLEST_SPREAD = 1e-6
# Largest share of points that may be called outliers.
LARGEST_CONTAMINATION = 0.5


class OutlierScale(NamedTuple):
    """The potentials of typical points: their median, and a robust standard deviation."""

    center: float
    spread: float

    def scores(self, potentials: Array) -> Array:
        """Return how many standard deviations potentials are below the median."""
        return (self.center - potentials) / self.spread


def outlier_scale(potentials: Array, eta2: float) -> OutlierScale:
    """Return the scale on which the potentials of a fit, and of new points, are judged."""
    center = float(np.median(potentials))
    deviation = float(np.median(np.abs(potentials - center))) / NORMAL_DEVIATION
    return OutlierScale(center, max(deviation, SMALLEST_SPREAD * eta2))


def share_in_own_cluster(affinity: Matrix, labels: Array, n_clusters: int) -> Array:
    """Return the share of each point's affinity to others that lies in its own cluster.

    What a point keeps for itself does not count. A point without affinity to any other is as likely
    in every cluster, so its share is ``1 / n_clusters``.
    """
    return shares_in_clusters(affinity, labels, n_clusters)[np.arange(len(labels)), labels]


def margin_to_next_cluster(affinity: Matrix, labels: Array, n_clusters: int) -> Array:
    """Return the share of each point's affinity in its own cluster less the largest in another.

    Half of it is the share that would have to move for the point to be as close to another cluster.
    It is one in a single cluster.
    """
    shares = shares_in_clusters(affinity, labels, n_clusters)
    places = np.arange(len(labels)), labels
    own = shares[places]
    shares[places] = 0.0
    return own - shares.max(axis=1)


def shares_in_clusters(affinity: Matrix, labels: Array, n_clusters: int) -> Array:
    """Return the share of each point's affinity to others in every cluster, by row."""
    n = len(labels)
    members = np.zeros((n, n_clusters))
    members[np.arange(n), labels] = 1.0
    own = affinity.diagonal()
    inside = affinity @ members
    inside[np.arange(n), labels] -= own
    total = np.asarray(affinity.sum(axis=1)).ravel() - own
    equal = np.full((n, n_clusters), 1.0 / n_clusters)
    # What rounding leaves of a row whose mass is all its own is no affinity to others.
    has_others = total > np.finfo(float).eps * np.abs(own)
    shares = np.divide(inside, total[:, None], out=equal, where=has_others[:, None])
    return np.clip(shares, 0.0, 1.0)


def check_contamination(contamination: object) -> float:
    """Return the share of outliers; raise ValueError unless it is at least 0 and at most 0.5."""
    share = check_nonnegative("contamination", contamination)
    if share > LARGEST_CONTAMINATION:
        raise ValueError(
            f"contamination={contamination!r} must be at most {LARGEST_CONTAMINATION}: it is the "
            "share of points that get the label -1"
        )
    return share
