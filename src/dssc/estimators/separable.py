"""`separation` and `separation_range` of estimators with a doubly stochastic affinity."""

from abc import abstractmethod
from typing import NamedTuple

from dssc._typing import Array
from dssc._validation import check_count
from dssc.separation import Separation, prove_separation
from dssc.separation_range import SeparationRange, prove_range
from dssc.stochastic import NearPairs


class JudgedClusters(NamedTuple):
    """What a separation is proved from.

    Attributes
    ----------
    near : NearPairs
        Pairs of points that are connected or nearly so.
    eta2 : float
        Regularisation of the fit.
    potentials : ndarray of shape (n_points,)
        Potentials of the fit.
    labels : ndarray of shape (n_points,)
        Clusters of the points.
    n_clusters : int
        Number of clusters.
    samples : ndarray of shape (n_points,)
        The sample that each point is.
    """

    near: NearPairs
    eta2: float
    potentials: Array
    labels: Array
    n_clusters: int
    samples: Array


def refuse_weights(weights: Array | None) -> None:
    """Refuse to judge a fit of points with different weights."""
    if weights is not None:
        raise ValueError(
            "no proof is known for points with different weights; fit without sample_weight"
        )


class SeparationMixin:
    """`separation` and `separation_range`."""

    @abstractmethod
    def _judged_clusters(self) -> JudgedClusters:
        """Return what a separation is proved from; refuse a fit for which that is impossible."""

    def separation(self) -> Separation:
        """Return which clusters are proved to be disconnected, and how others are connected.

        Pairs of points that are connected, or nearly so, are projected as accurately as float64
        allows, from the potentials of the fit. This takes a small part of the time of a fit.

        Returns
        -------
        separation : Separation
            For each two clusters a margin by which they are proved to be separate, or the affinity
            between them. Outliers count as members of their cluster.
        """
        return prove_separation(*self._judged_clusters())

    def separation_range(self, max_projections: int = 16) -> SeparationRange:
        """Return between which values of eta2 clusters are proved to be disconnected.

        From the eta2 of the fit, smaller and larger values are taken one after the other, and
        clusters are proved to be separate for all values between two neighbours. A separation that
        holds for a narrow range only depends on how eta2 was chosen.

        Parameters
        ----------
        max_projections : int, default=16
            Most values of eta2 that are tried. More of them may give a larger range. Each takes
            a little longer than `separation`.

        Returns
        -------
        separation_range : SeparationRange
            A smallest and a largest eta2 for every two clusters, and for all of them together.
        """
        check_count("max_projections", max_projections)
        judged = self._judged_clusters()
        return prove_range(
            judged.near,
            judged.eta2,
            judged.potentials,
            judged.labels,
            judged.n_clusters,
            max_projections,
        )
