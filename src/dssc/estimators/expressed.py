"""The least squares self-expression of a data set, held as a matrix or as the vectors behind it."""

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc._progress import Progress
from dssc.expression import LeastSquaresFactor, least_squares_representation
from dssc.features import unit_norm
from dssc.stochastic import ProductSimilarity, ProjectionProblem

# From this many samples on, with more samples than features, no n x n matrix is made.
MATRIX_FREE_FROM = 4000


class ExpressedAsMatrix:
    """C as an array, for data sets of moderate size."""

    def __init__(self, X, eta1: float, symmetric: bool, progress: Progress):
        with progress.stage("self-expression"):
            self.C = least_squares_representation(unit_norm(X.astype(np.float64)), eta1)
            self.K = np.abs(self.C)
            if symmetric:
                self.K += self.K.T.copy()  # exactly symmetric: a + b and b + a are the same number
                self.K /= 2
        self.problem = ProjectionProblem(self.K)

    def coefficients(self, A):
        """Return C."""
        return self.C

    def similarities(self, rows):
        """Return rows of the symmetric part of K."""
        return self.K[rows] + self.K[:, rows].T


class ExpressedAsProducts:
    """C as products of short vectors, for any number of samples."""

    def __init__(self, X, eta1: float, symmetric: bool, progress: Progress):
        self.factor = LeastSquaresFactor(X, eta1, progress=progress)
        self.K = ProductSimilarity(self.factor, symmetric, kernels.select(), progress)
        self.problem = ProjectionProblem(self.K)

    def coefficients(self, A):
        """Return the entries of C where A is positive, as a sparse matrix."""
        rows = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        off = np.flatnonzero(rows != A.indices)
        rows, columns = rows[off], A.indices[off]
        values = self.factor.products(rows, columns) * self.factor.scales[rows]
        return sparse.csr_array((values, (rows, columns)), shape=A.shape)

    def similarities(self, rows):
        """Return rows of the symmetric part of K."""
        return self.K.symmetric_rows(rows)


def express(X, eta1: float, symmetric: bool, progress: Progress):
    """Return the self-expression of X in the form that suits its size."""
    n, d = X.shape
    form = ExpressedAsProducts if n >= MATRIX_FREE_FROM and n > d else ExpressedAsMatrix
    return form(X, eta1, symmetric, progress)
