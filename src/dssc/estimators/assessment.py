"""What a clustering is worth: separation that is proved, stability, and a verdict in words."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from dssc._devices import as_array
from dssc._progress import Progress
from dssc._typing import Array, RandomState
from dssc._validation import check_count
from dssc.engines import engine_for
from dssc.engines.cpu import CpuEngine
from dssc.engines.cpu.engine import MATRIX_FREE_FROM
from dssc.estimators.sample_rows import ClusteredPoints
from dssc.out_of_sample import FittedClusters
from dssc.outliers import share_in_own_cluster
from dssc.pipeline import Settings, express
from dssc.selection.neighborhoods import FEWEST, distance_from_neighbors
from dssc.separation import Separation, prove_separation
from dssc.separation_range import SeparationRange, prove_range
from dssc.stability import Stability, resampled_stability
from dssc.stochastic import NearPairs
from dssc.verdict import Verdict, gather_evidence, judge

# Fewest features for which the neighbourhoods of points say whether there is structure.
FEWEST_FEATURES = 4


class AssessmentMixin:
    """`separation`, `stability` and `summary` of a clustering of points by self-expression."""

    device: str | None
    random_state: RandomState
    n_clusters_: int
    n_neighbors_: float
    distinct_rows_: Array
    projection_: Any  # a ProjectionResult, or None where nothing was solved
    # Set by `fit`; near pairs only where it would take long to find them again.
    _near_pairs: NearPairs | None
    _points: ClusteredPoints
    _fitted_clusters: FittedClusters
    # Computed on demand.
    _verdict: Verdict | None

    @abstractmethod
    def _fitted_settings(self) -> Settings:
        """Return the parameters that the fitted affinity was computed with."""

    def separation(self) -> Separation:
        """Return which clusters are proved to be disconnected, and how others are connected.

        Pairs of points that are connected, or nearly so, are projected as accurately as float64
        allows, from the potentials of the fit. From 4,000 points on the fit has kept these pairs,
        which takes about as much memory as the affinity; below, their similarities are computed
        again. This takes a small part of the time of a fit.

        Returns
        -------
        separation : Separation
            For each two clusters a margin by which they are proved to be separate, or the affinity
            between them. Outliers count as members of their cluster.
        """
        self._check_separable()
        fitted = self._fitted_clusters
        return prove_separation(
            self._near_pairs or self._near_pairs_again(),
            fitted.eta2,
            fitted.potentials,
            fitted.labels,
            fitted.n_clusters,
            self.distinct_rows_,
        )

    def separation_range(self, max_projections: int = 16) -> SeparationRange:
        """Return between which values of eta2 clusters are proved to be disconnected.

        From the eta2 of the fit, smaller and larger values are taken one after the other, and
        clusters are proved to be separate for all values between two neighbours. Parameters that
        are not chosen well would show here: a separation that holds for one eta2 only means little.

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
        self._check_separable()
        fitted = self._fitted_clusters
        return prove_range(
            self._near_pairs or self._near_pairs_again(),
            fitted.eta2,
            fitted.potentials,
            fitted.labels,
            fitted.n_clusters,
            max_projections,
        )

    def _check_separable(self) -> None:
        """Refuse a fit of which no separation can be proved."""
        check_is_fitted(self)
        if self.projection_ is None:
            raise ValueError(
                "every distinct point is a cluster, and nothing was projected; ask for fewer "
                "clusters"
            )
        if not self._fitted_clusters.symmetric:
            raise ValueError(
                "symmetric=False has potentials for rows and for columns, for which no proof is "
                "known; fit with symmetric=True"
            )

    def _near_pairs_again(self) -> NearPairs:
        """Compute similarities again, for the pairs that are connected or nearly so."""
        points = as_array(self._fitted_clusters.points)
        expression = express(points, self._fitted_settings(), CpuEngine(), Progress())
        assert self.projection_ is not None
        return expression.problem.near_pairs(self.projection_)

    def stability(self, n_resamples: int = 5) -> Stability:
        """Return how often clusters are found again when half of the points is clustered alone.

        Each time another random half is clustered, at most 1,500 points (or 20 per cluster), with
        the parameters of the fit.

        Parameters
        ----------
        n_resamples : int, default=5
            Number of random halves. Five take less time than a fit that chooses its parameters.

        Returns
        -------
        stability : Stability
            A number per cluster and one per sample; 1 is best.
        """
        check_is_fitted(self)
        check_count("n_resamples", n_resamples)
        fitted, rows = self._fitted_clusters, self._points.rows
        n_points = len(fitted.labels)
        if n_points < 2 * (fitted.n_clusters + 1):
            raise ValueError(
                f"{n_points} distinct points are too few for {fitted.n_clusters} clusters to be "
                "found in half of them; ask for fewer clusters"
            )
        assert self.projection_ is not None  # there are more points than clusters
        settings = replace(self._fitted_settings(), n_neighbors=max(1, round(self.n_neighbors_)))
        found = resampled_stability(
            fitted.points,
            fitted.labels,
            fitted.n_clusters,
            settings,
            n_resamples,
            engine_for(self.device, fitted.points),
            check_random_state(self.random_state),
        )
        return found._replace(points=rows.spread(found.points, np.nan))

    def summary(self) -> Verdict:
        """Return what the clustering is worth: what was found, how sure it is, what to do next.

        It rests on `stability`; below 4,000 points it reports `separation`, too. It takes about as
        long as a fit that chooses its parameters. Computed by the first call.

        Returns
        -------
        verdict : Verdict
            ``print`` shows it in words.
        """
        check_is_fitted(self)
        if self._verdict is None:
            points, fitted = self._points, self._fitted_clusters
            is_small = len(points.labels) < MATRIX_FREE_FROM
            shares = share_in_own_cluster(points.affinity, points.labels, self.n_clusters_)
            evidence = gather_evidence(
                points.affinity,
                points.labels,
                self.n_clusters_,
                shares,
                self.stability(),
                self._distance_from_neighbors(),
                self.separation() if is_small and fitted.symmetric else None,
                converged=self.projection_.converged,
            )
            self._verdict = judge(evidence)
        return self._verdict

    def _distance_from_neighbors(self) -> float:
        """Return the evidence of neighbourhoods; NaN where a few points span everything."""
        fitted = self._fitted_clusters
        points = fitted.points
        if points.shape[0] < FEWEST or points.shape[1] < FEWEST_FEATURES:
            return np.nan
        return distance_from_neighbors(points, fitted.eta1, fitted.signed)
