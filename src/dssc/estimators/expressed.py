"""The self-expression of a data set, held as a matrix or as the vectors behind it."""

from functools import cached_property

import numpy as np
from scipy import sparse

from dssc import kernels
from dssc._progress import Progress
from dssc.expression import LeastSquaresFactor, coefficients_at, least_squares_representation
from dssc.features import check_no_zero_rows, unit_norm
from dssc.stochastic import ProductSimilarity, ProjectionProblem

# From this many samples on, with more samples than features, no n x n matrix is made.
MATRIX_FREE_FROM = 4000


class ExpressedAsMatrix:
    """C as an array or a sparse matrix, and the similarities K made of it."""

    def __init__(self, C, symmetric: bool = True):
        self.C = C
        K = abs(C)
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
        return ProjectionProblem(self.K)

    def report_to(self, progress: Progress) -> None:
        """Take note of nothing: what is left to do is quick."""

    def coefficients(self, A):
        """Return C."""
        return self.C

    def similarities(self, rows):
        """Return rows of ``K + K'``."""
        return self.K[rows] + self.K[:, rows].T


class ExpressedAsProducts:
    """C by least squares as products of short vectors, for any number of samples."""

    def __init__(self, X, eta1: float, symmetric: bool, progress: Progress):
        check_no_zero_rows(X)
        self.factor = LeastSquaresFactor(X, eta1, progress=progress)
        self.K = ProductSimilarity(self.factor, symmetric, kernels.select(), progress)
        self.problem = ProjectionProblem(self.K)

    def report_to(self, progress: Progress) -> None:
        """Show further searches on another run's progress."""
        self.K.progress = progress

    def coefficients(self, A):
        """Return the entries of C where A is positive, as a sparse matrix."""
        return coefficients_at(A, self.factor.products, self.factor.scales)

    def similarities(self, rows):
        """Return rows of ``K + K'``."""
        return self.K.symmetric_rows(rows)


def as_matrix(X, eta1: float, symmetric: bool, progress: Progress) -> ExpressedAsMatrix:
    """Express X by least squares, as a matrix."""
    with progress.stage("self-expression"):
        C = least_squares_representation(unit_norm(X.astype(np.float64)), eta1)
        return ExpressedAsMatrix(C, symmetric)


def express(X, eta1: float, symmetric: bool, progress: Progress):
    """Express X by least squares, in the form that suits its size."""
    n, d = X.shape
    form = ExpressedAsProducts if n >= MATRIX_FREE_FROM and n > d else as_matrix
    return form(X, eta1, symmetric, progress)
