"""Between which values of eta2 clusters are proved to be disconnected.

Projections are computed for some values of eta2, each starting from the last two, and clusters are
proved to be separate for all values between two neighbours; see
:mod:`dssc.stochastic.eta2_interval`. Where this fails, the next value is taken closer.
"""

from dataclasses import dataclass

import numpy as np

from dssc._typing import Array
from dssc.stochastic import NearPairs
from dssc.stochastic.accurate_projection import AccurateProjection, accurate_projection
from dssc.stochastic.cluster_slacks import largest_slacks
from dssc.stochastic.eta2_interval import errors_between

# The first, the largest and the smallest step, in log(eta2).
FIRST_STEP, LARGEST_STEP, SMALLEST_STEP = 0.02, 0.2, 0.005
# A step that failed is divided by this, and one that succeeded is multiplied.
SHORTER, LONGER = 3.0, 1.5
# Largest factor by which eta2 is changed.
LARGEST_FACTOR = 10.0


@dataclass(frozen=True)
class SeparationRange:
    """Between which values of eta2 clusters are proved to be disconnected.

    Attributes
    ----------
    eta2 : float
        The eta2 of the fit.
    lows, highs : ndarray of shape (n_clusters, n_clusters)
        Two clusters are proved to be separate for every eta2 from the one to the other. NaN if they
        are not proved to be separate at the eta2 of the fit, and on the diagonal. The true range
        may be larger.
    n_projections : int
        Number of projections that this took.
    """

    eta2: float
    lows: Array
    highs: Array
    n_projections: int

    @property
    def low(self) -> float:
        """The smallest eta2 for which all pairs stay separate that are so at the eta2 of the fit.

        NaN if there is no such pair.
        """
        return float(np.nanmax(self.lows)) if np.any(~np.isnan(self.lows)) else np.nan

    @property
    def high(self) -> float:
        """The largest such eta2."""
        return float(np.nanmin(self.highs)) if np.any(~np.isnan(self.highs)) else np.nan

    def __str__(self) -> str:
        """Return in words for which values the separation holds."""
        n_pairs = int(np.count_nonzero(np.triu(~np.isnan(self.lows), 1)))
        if n_pairs == 0:
            return f"no two clusters are proved separate at eta2={self.eta2:.3g}"
        pairs = "1 pair" if n_pairs == 1 else f"{n_pairs} pairs"
        verb = "stays" if n_pairs == 1 else "stay"
        return (
            f"{pairs} of clusters {verb} separate for every eta2 from {self.low:.3g} to "
            f"{self.high:.3g}, {self.low / self.eta2:.2f} to {self.high / self.eta2:.2f} times "
            "that of the fit"
        )


def prove_range(
    near: NearPairs,
    eta2: float,
    potentials: Array,
    labels: Array,
    n_clusters: int,
    max_projections: int,
) -> SeparationRange:
    """Prove separation for values of eta2 below and above that of a fit.

    Parameters
    ----------
    near : NearPairs
        The near pairs of the similarities K.
    eta2 : float
        Regularisation of the fit.
    potentials : ndarray of shape (n_points,)
        Potentials of the fit, to start from.
    labels : ndarray of shape (n_points,)
        Clusters of the points.
    n_clusters : int
        Number of clusters.
    max_projections : int
        Most projections, half of them on each side.
    """
    start = accurate_projection(near, eta2, potentials)
    proved = _proved_at([start], near, labels, n_clusters, 0.0)
    ends = []
    n_projections = 1
    for way in (-1, 1):
        walk = _Walk(near, labels, n_clusters, start, proved, way)
        n_projections += walk.go(max_projections // 2)
        ends.append(walk.ends)
    return SeparationRange(eta2, ends[0], ends[1], n_projections)


class _Walk:
    """Values of eta2 one after the other, down or up, as far as clusters are proved separate."""

    def __init__(
        self,
        near: NearPairs,
        labels: Array,
        n_clusters: int,
        start: AccurateProjection,
        proved: Array,
        way: int,
    ):
        self.near, self.labels, self.n_clusters, self.way = near, labels, n_clusters, way
        self.last, self.before = start, start
        self.proved = proved
        self.farthest = start.eta2 * LARGEST_FACTOR**way
        self.ends = np.where(proved, start.eta2, np.nan)

    def go(self, max_projections: int) -> int:
        """Take steps as long as any clusters are separate; return the number of projections."""
        step = FIRST_STEP
        for number in range(max_projections):
            if not self.proved.any() or self.last.eta2 == self.farthest:
                return number
            proved, following = self._try(step)
            is_worse = np.any(proved != self.proved)
            if is_worse and step > SMALLEST_STEP:
                step = max(step / SHORTER, SMALLEST_STEP)
                continue
            self.before, self.last, self.proved = self.last, following, proved
            self.ends[proved] = following.eta2
            step = min(step * LONGER, LARGEST_STEP)
        return max_projections

    def _try(self, step: float) -> tuple[Array, AccurateProjection]:
        """Return the clusters that stay separate up to the next eta2, and its projection."""
        eta2 = self.last.eta2 * np.exp(self.way * step)
        eta2 = self.way * min(self.way * eta2, self.way * self.farthest)
        following = accurate_projection(self.near, eta2, self._extrapolated(eta2))
        errors = errors_between(self.near, self.last, following)
        if errors is None:
            return np.zeros_like(self.proved), following
        ends = [self.last, following]
        proved = _proved_at(ends, self.near, self.labels, self.n_clusters, errors)
        return self.proved & proved, following

    def _extrapolated(self, eta2: float) -> Array:
        """Return potentials to start from: they are piecewise linear in eta2."""
        last, before = self.last, self.before
        if last.eta2 == before.eta2:
            return last.potentials
        share = (eta2 - last.eta2) / (last.eta2 - before.eta2)
        return last.potentials + share * (last.potentials - before.potentials)


def _proved_at(
    projections: list[AccurateProjection],
    near: NearPairs,
    labels: Array,
    n_clusters: int,
    errors: Array | float,
) -> Array:
    """Return which clusters are separate at some projections, with more errors added."""
    proved = ~np.eye(n_clusters, dtype=bool)
    for projection in projections:
        safe = projection.safe_potentials(errors) - projection.rounding
        proved &= largest_slacks(near, safe, labels, n_clusters) < 0.0
        unknown = np.unique(labels[~projection.is_known])
        proved[unknown] = proved[:, unknown] = False
    return proved
