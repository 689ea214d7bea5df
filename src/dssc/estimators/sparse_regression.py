"""What SSC and EnSC share: the solver of the elastic net."""

from dssc._typing import Matrix
from dssc.estimators.base import parameters
from dssc.estimators.baseline import BaselineClustering
from dssc.expression import elastic_net_representation
from dssc.pipeline import check_usable


@parameters
class SparseRegressionClustering(BaselineClustering):
    """A baseline whose C solves (minC) with an l1 penalty."""

    gamma: float = 50.0

    positive = (*BaselineClustering.positive, "gamma")

    def _solve(self, X: Matrix, *, eta1: float, eta3: float) -> Matrix:
        result = elastic_net_representation(X, eta1, eta3, tol=self.tol, max_iter=self.max_iter)
        check_usable(result, f"gamma={self.gamma!r} is so small that C is zero; raise gamma")
        self.expression_ = result
        self.n_iter_ = int(result.n_iter.max())
        return result.representation
