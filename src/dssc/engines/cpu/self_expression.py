"""The self-expression of a data set on the CPU: a matrix, or the vectors behind it."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc.expression import LeastSquaresFactor, coefficients_at
from dssc.result import ProjectionResult
from dssc.stochastic import (
    FactoredSimilarity,
    ProjectionProblem,
    Search,
    largest_similarities,
)

# Most similarities that are kept for the next call: 32 MB of them.
KEPT_SIMILARITIES = 1 << 23


class MatrixExpression:
    """C as an array or a sparse matrix, and the similarities K made from it.

    K holds magnitudes, or with `signed` the positive part of C. If samples have weights, C holds
    the coefficient of each copy.

    Implements :class:`dssc.engines.protocol.SelfExpression`.
    """

    def __init__(
        self,
        C: Matrix,
        symmetric: bool = True,
        signed: bool = False,
        weights: Array | None = None,
    ):
        self.C, self.weights = C, weights
        K = _positive_part(C) if signed else abs(C)
        if sparse.issparse(K):
            K = K.astype(np.float64)
            K = sparse.csr_array((K + K.T) / 2 if symmetric else K)
            K.sum_duplicates()
        elif symmetric:
            K += K.T.copy()  # exactly symmetric: a + b and b + a are the same number
            K /= 2
        self.K = K

    @cached_property
    def problem(self) -> ProjectionProblem:
        """The projection of K."""
        return ProjectionProblem.of_matrix(self.K, weights=self.weights)

    def coefficients(self, projection: ProjectionResult | None) -> Matrix:
        """Return C, summed over copies."""
        return self.C if self.weights is None else self.C * self.weights

    def similarities(self, rows: Array) -> Matrix:
        """Return rows of ``K + K'``."""
        return self.K[rows] + self.K[:, rows].T


class FactoredExpression:
    """C by least squares as products of short vectors, for any number of samples.

    Implements :class:`dssc.engines.protocol.SelfExpression`. The samples must not be zero.
    `search_for` returns the search of all pairs of a factor's vectors. A sample of weight p counts
    as p copies that do not express each other.
    """

    def __init__(
        self,
        X: Any,
        eta1: float,
        symmetric: bool,
        signed: bool,
        progress: Progress,
        search_for: Callable[[LeastSquaresFactor], Search] = lambda factor: largest_similarities,
        weights: Array | None = None,
    ):
        self.weights = weights
        self.factor = LeastSquaresFactor(X, eta1, progress=progress, weights=weights)
        search = search_for(self.factor)
        self.K = FactoredSimilarity(self.factor, symmetric, signed, search, weights)
        self.problem = ProjectionProblem(self.K, weights=weights)
        self._last_rows: tuple[Array, Array] | None = None

    def coefficients(self, projection: ProjectionResult | None) -> Matrix:
        """Return the entries of C, summed over copies, where the projection is positive."""
        assert projection is not None  # C is never formed as a whole
        A = sparse.csr_array(projection.plan)
        C = coefficients_at(A, self.factor.products, self.factor.scales)
        if self.weights is not None:
            C.data *= self.weights[C.indices]
        return C

    def similarities(self, rows: Array) -> Array:
        """Return rows of ``K + K'``.

        Clusterings of one graph ask for the same rows again and again, so the last ones are kept.
        """
        if self._last_rows is not None and np.array_equal(self._last_rows[0], rows):
            return self._last_rows[1]
        values = self.K.symmetric_rows(rows)
        if values.size <= KEPT_SIMILARITIES:
            self._last_rows = rows, values
        return values


def _positive_part(C: Matrix) -> Matrix:
    return C.maximum(0.0) if sparse.issparse(C) else np.maximum(C, 0.0)
