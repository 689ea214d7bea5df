"""Similarities that were given, in the place of those made from a self-expression."""

from functools import cached_property

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.result import ProjectionResult
from dssc.stochastic import ProjectionProblem


class GivenSimilarity:
    """Symmetric similarities K; pairs that a sparse K does not store stay unconnected.

    Implements :class:`dssc.engines.protocol.SelfExpression`, with K in the place of C.
    """

    def __init__(self, K: Matrix, weights: Array | None = None):
        self.K, self.weights = K, weights

    @cached_property
    def problem(self) -> ProjectionProblem:
        """The projection of K, on its own edges if it is sparse.

        The diagonal belongs to the pattern, so that some plan always exists.
        """
        if not sparse.issparse(self.K):
            return ProjectionProblem.of_matrix(self.K, weights=self.weights)
        pattern = sparse.csr_array(
            (np.ones(self.K.nnz), self.K.indices, self.K.indptr), shape=self.K.shape
        ) + sparse.eye_array(self.K.shape[0])
        support = sparse.csr_array(pattern != 0)
        return ProjectionProblem.of_matrix(self.K, support=support, weights=self.weights)

    def coefficients(self, projection: ProjectionResult | None) -> Matrix:
        """Return K."""
        return self.K

    def similarities(self, rows: Array) -> Matrix:
        """Return rows of ``K + K'``."""
        return 2.0 * self.K[rows]
