"""The operations on matrices over which the joint model and its methods are written.

The model and every method exist once. What differs between NumPy and torch is declared here, and
implemented by :class:`dssc.joint.cpu_operations.CpuOperations` and by
:class:`dssc.engines.torch.joint.operations.TorchOperations`. Besides these operations the shared
code uses only the arithmetic of :class:`dssc.joint.array_types.ArrayOrTensor`, and functions that
NumPy and torch both have.
"""

from types import ModuleType
from typing import Protocol

from dssc._typing import Array
from dssc.joint.array_types import ArrayT
from dssc.joint.coupling import (
    Candidates,
    CouplingCost,
    CouplingNewton,
    CouplingSolution,
    solve,
)
from dssc.joint.entries import Entries
from dssc.joint.penalty import CouplingPenalty
from dssc.stochastic import ProjectionProblem

ALL_ROWS = slice(None)


class MatrixOperations(Protocol[ArrayT]):
    """What the model and all methods need. Matrices are n x n unless stated otherwise.

    Attributes
    ----------
    xp : module
        ``numpy`` or ``torch``.
    """

    xp: ModuleType

    def blocks(self, n_rows: int, n_columns: int) -> list[slice]:
        """Cut the rows of a matrix into slices that are processed one after another."""

    def array(self, x: Array) -> ArrayT:
        """Return an array in main memory as the engine holds arrays."""

    def magnitudes(self, M: ArrayT) -> ArrayT:
        """Return |M| as a new matrix in float64."""

    def sum_of_squares(self, M: ArrayT) -> float:
        """Return |M|^2, accumulated in float64."""

    def inner_products(self, R: ArrayT, X: ArrayT) -> tuple[float, float]:
        """Return ``<R, X>`` and ``|R|^2`` of two n x d matrices, accumulated in float64."""

    def fill_diagonal(self, M: ArrayT, value: float, first_row: int = 0) -> None:
        """Set the diagonal of a matrix, of which M holds the rows from `first_row` on."""

    def add_to_diagonal(self, M: ArrayT, value: float) -> None:
        """Add a number to the diagonal."""

    def entries_at(self, M: ArrayT, rows: Array, columns: Array) -> Array:
        """Return entries of M, in main memory."""

    def raise_entries(self, M: ArrayT, rows: Array, columns: Array, least: Array) -> None:
        """Raise entries of M to at least the given values."""

    def residual(self, X: ArrayT, C: ArrayT, rows: slice = ALL_ROWS) -> ArrayT:
        """Return ``X - C X``, or some of its rows, as a new matrix."""

    def least_squares(self, X: ArrayT, eta1: float) -> ArrayT:
        """Return the self-expression by least squares, with a zero diagonal."""

    def projection_problem(self, W: ArrayT) -> ProjectionProblem:
        """Return the problem of projecting W to the doubly stochastic matrices."""


class LinearizedAdmmOperations(MatrixOperations[ArrayT], Protocol[ArrayT]):
    """What the paper's linearised ADMM needs besides."""

    def summand(self, vector: ArrayT, M: ArrayT) -> ArrayT:
        """Return a float64 vector in the precision in which it is added to M."""

    def add_scaled(self, x: ArrayT, y: ArrayT, factor: float) -> None:
        """Add ``factor * y`` to x, in place and without a third matrix."""

    def plus_scaled(self, x: ArrayT, y: ArrayT, factor: float) -> ArrayT:
        """Return ``x + factor * y``."""

    def linearized_step(
        self,
        C_p: ArrayT,
        C_q: ArrayT,
        A: ArrayT,
        direction: ArrayT,
        push: tuple[ArrayT, ArrayT],
        penalty: CouplingPenalty,
        tau: float,
        rho: float,
    ) -> tuple[ArrayT, ArrayT]:
        """Take the proximal step in C_p and C_q and minimise over A, (first_lin) to (first_min).

        `direction` is the descent direction of C. It is overwritten by the new ``C_p - C_q``.
        `push` holds the row part and the column part of ``Lambda_1 + rho (Y - A)``. Returned are
        the row and column sums of the new A, in float64.
        """


class SplittingOperations(MatrixOperations[ArrayT], Protocol[ArrayT]):
    """What the splitting needs besides."""

    def n_remembered(self, X: ArrayT) -> int:
        """Return how many earlier steps the acceleration remembers."""

    def empty_square(self, X: ArrayT, single: bool = False) -> ArrayT:
        """Return an uninitialised n x n matrix in the type of X, or in float32 if `single`."""

    def largest_keys(self, M: ArrayT, count: int) -> ArrayT:
        """Return keys of the diagonal and of the largest magnitudes of every row and column.

        The keys ``i n + j`` are in rising order.
        """

    def keys_above(self, M: ArrayT, rows: ArrayT, columns: ArrayT, limit: float) -> ArrayT:
        """Return keys of entries with ``|M| + rows + columns > limit`` or ``rows + columns > 0``.

        The diagonal is always included.
        """

    def magnitudes_at(self, M: ArrayT, keys: ArrayT) -> ArrayT:
        """Return the magnitudes of entries in float64, zero on the diagonal."""

    def weighted_sum(self, terms: list[tuple[float, Entries[ArrayT]]]) -> Entries[ArrayT]:
        """Return the weighted sum of sparse matrices; entries that cancel are kept."""

    def coupling_newton(
        self, cost: CouplingCost, candidates: Candidates[ArrayT], n: int
    ) -> CouplingNewton[ArrayT]:
        """Return what Newton's method needs to find A among the candidates."""

    def solve_coupling(
        self,
        cost: CouplingCost,
        candidates: Candidates[ArrayT],
        start: ArrayT,
        tol: float,
        max_steps: int,
    ) -> CouplingSolution[ArrayT]:
        """Find A among the candidates, whose sums are one within `tol`, from given potentials."""
        newton = self.coupling_newton(cost, candidates, len(start) // 2)
        return solve(newton, start, tol, max_steps)

    def coupling_step(
        self, z: ArrayT, A: Entries[ArrayT], penalty: CouplingPenalty, rho: float, out: ArrayT
    ) -> None:
        """Write the C that minimises the proximal step of the coupling at z for given A."""

    def ridge_coefficients(self, X: ArrayT, rho: float) -> ArrayT:
        """Return ``(X' X + rho I)^-1 X'``, of shape (d, n), computed in float64."""

    def ridge_inverse(self, X: ArrayT, rho: float) -> ArrayT:
        """Return ``rho (X X' + rho I)^-1``, computed in float64."""

    def add_product(self, A: ArrayT, B: ArrayT, out: ArrayT) -> None:
        """Add the product ``A B`` to a matrix."""


class JointOperations(
    SplittingOperations[ArrayT], LinearizedAdmmOperations[ArrayT], Protocol[ArrayT]
):
    """What an engine implements to run the joint model and both methods."""
