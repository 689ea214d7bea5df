"""What a clustering is worth: separation that is proved, stability, and a verdict in words."""

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from dssc._cluster_rows import ClusterRows
from dssc._devices import as_array
from dssc._progress import Progress
from dssc._typing import Array, RandomState
from dssc._validation import check_count
from dssc.engines import SelfExpression, engine_in_use
from dssc.engines.cpu import CpuEngine
from dssc.estimators.sample_rows import ClusteredPoints
from dssc.estimators.separable import JudgedClusters, SeparationMixin, refuse_weights
from dssc.out_of_sample import FittedClusters
from dssc.outliers import share_in_own_cluster
from dssc.pipeline import Settings, express
from dssc.selection.neighborhoods import FEWEST, distance_from_neighbors
from dssc.stability import Stability, resampled_stability
from dssc.stochastic import NearPairs
from dssc.verdict import Verdict, gather_evidence, judge

# Fewest features for which the neighbourhoods of points say whether there is structure.
FEWEST_FEATURES = 4


class AssessmentMixin(SeparationMixin):
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

    def _judged_clusters(self) -> JudgedClusters:
        check_is_fitted(self)
        fitted = self._fitted_clusters
        if self.projection_ is None:
            raise ValueError(
                "every distinct point is a cluster, and nothing was projected; ask for fewer "
                "clusters"
            )
        if not fitted.symmetric:
            raise ValueError(
                "symmetric=False has potentials for rows and for columns, for which no proof is "
                "known; fit with symmetric=True"
            )
        refuse_weights(fitted.weights)
        if self._near_pairs is None:
            self._near_pairs = self._near_pairs_again()
        return JudgedClusters(
            self._near_pairs,
            fitted.eta2,
            fitted.potentials,
            fitted.labels,
            fitted.n_clusters,
            self.distinct_rows_,
        )

    def _kept_expression(self) -> SelfExpression | None:
        """Return the self-expression of the fit, if it is kept for the next one."""
        return None

    def _near_pairs_again(self) -> NearPairs:
        """Return the pairs that are connected or nearly so; compute similarities if needed."""
        expression = self._kept_expression()
        if expression is None:
            points = as_array(self._fitted_clusters.points)
            expression = express(points, self._fitted_settings(), CpuEngine(), Progress())
        assert self.projection_ is not None
        return expression.problem.near_pairs(self.projection_)

    def stability(self, n_resamples: int = 5) -> Stability:
        """Return how often clusters are found again when half of the points is clustered alone.

        Each time another random half is clustered, at most 1,500 points (or 20 per cluster), with
        the parameters of the fit. Two more halves are clustered with half and with twice as many
        neighbours per point.

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
        # Halves of points that stay on a cluster are clustered here; the device is the workers'.
        device = None if isinstance(fitted.points, ClusterRows) else self.device
        with engine_in_use(device, fitted.points) as engine:
            found = resampled_stability(
                fitted.points,
                self._points.affinity,
                fitted.labels,
                fitted.n_clusters,
                settings,
                n_resamples,
                engine,
                check_random_state(self.random_state),
            )
        return found._replace(
            points=rows.spread(found.points, np.nan), margins=rows.spread(found.margins, np.nan)
        )

    def summary(self) -> Verdict:
        """Return what the clustering is worth: what was found, how sure it is, what to do next.

        It rests on `stability`, and reports `separation`. It takes about as long as a fit that
        chooses its parameters, and less for many points. Computed by the first call.

        Returns
        -------
        verdict : Verdict
            ``print`` shows it in words.
        """
        check_is_fitted(self)
        if self._verdict is None:
            points, fitted = self._points, self._fitted_clusters
            is_provable = fitted.symmetric and fitted.weights is None
            shares = share_in_own_cluster(points.affinity, points.labels, self.n_clusters_)
            evidence = gather_evidence(
                points.affinity,
                points.labels,
                self.n_clusters_,
                shares,
                self.stability(),
                self._distance_from_neighbors(),
                self.separation() if is_provable else None,
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
