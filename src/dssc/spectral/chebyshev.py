"""Leading eigenvectors of a large sparse matrix by Chebyshev-filtered subspace iteration.

The Chebyshev polynomial of an interval is small on the interval and grows steeply beyond it. With
the unwanted part of the spectrum as the interval, the polynomial of the matrix is applied to a
block of vectors. After that, the span of the block is closer to that of the wanted eigenvectors.
The method needs only products of the matrix with blocks of vectors.

The iteration is written once, over the few operations of `BlockOperations`.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from dssc._typing import Array

# Lowest degree of a filter polynomial, and the degree of the first one.
MIN_DEGREE = 12
# Highest degree of a filter polynomial.
MAX_DEGREE = 200
# Most by which one round raises a wanted vector over those that are filtered out.
GAIN = 1e4
# Residual of a unit vector that is only roughly an eigenvector.
ROUGH = 1e-2
# Most rounds of filtering.
MAX_ROUNDS = 60
# Rounds without a residual smaller by a quarter after which an iteration in float32 gives up.
PATIENCE = 4


class Columns(Protocol):
    """A block of vectors, one per column, of which columns can be taken."""

    def __getitem__(self, key: Any, /) -> Any:
        """Return part of the block."""


Block = TypeVar("Block", bound=Columns)
# Returns ``scale (N x - center x) - weight previous`` for blocks x and previous. A missing previous
# block counts as zero. The storage of the previous block may be reused.
Combination = Callable[[Block, Block | None, float, float, float], Block]


class RitzVectors(NamedTuple, Generic[Block]):
    """The best approximate eigenvectors in the span of a block.

    Attributes
    ----------
    values : ndarray of shape (n_vectors,)
        Approximate eigenvalues in falling order, in main memory.
    vectors : Block
        Orthonormal vectors, one per column.
    residuals : ndarray of shape (n_vectors,)
        Norms of ``N v - lambda v``, in main memory.
    """

    values: Array
    vectors: Block
    residuals: Array


class BlockOperations(Protocol[Block]):
    """What filtered subspace iteration does with blocks of vectors, for one kind of array.

    An implementation holds a symmetric matrix N with eigenvalues in [-1, 1] and its known
    eigenvectors, those of eigenvalue one. All blocks are in float64.
    """

    @property
    def n_free(self) -> int:
        """Dimension of the space orthogonal to the known eigenvectors."""

    def random_block(self, n_vectors: int, rng: np.random.RandomState) -> Block:
        """Return a block of random vectors."""

    def orthonormal(self, X: Block) -> Block:
        """Remove the known eigenvectors from X and return an orthonormal basis of the result."""

    def filtered(self, X: Block, cut: float, degree: int, *, double: bool) -> Block:
        """Apply the polynomial of `chebyshev_filter` to X, in float64 or else in float32."""

    def rayleigh_ritz(self, X: Block) -> RitzVectors[Block]:
        """Return approximate eigenvectors from the span of an orthonormal X."""


def chebyshev_eigenvectors(
    operations: BlockOperations[Block],
    n_wanted: int,
    rng: np.random.RandomState,
    *,
    tol: float,
    resolution: float = 1.0,
    n_exact: int | None = None,
    allow_double: bool,
    max_rounds: int = MAX_ROUNDS,
) -> tuple[RitzVectors[Block], bool]:
    """Return leading eigenvectors orthogonal to the known ones.

    Vectors are filtered in float32 and judged in float64.

    Parameters
    ----------
    operations : BlockOperations
        The matrix, its known eigenvectors and the operations on blocks of vectors.
    n_wanted : int
        Number of eigenvectors.
    rng : RandomState
        Draws the first block.
    tol : float
        Largest share of unwanted eigenvectors in a wanted one. This is the norm of
        ``N v - lambda v`` for a unit vector v, divided by the distance of lambda from the
        eigenvalues that are not wanted.
    resolution : float
        Distances below this one count as this one.
    n_exact : int, optional
        How many eigenvectors must meet `tol`; all by default. The others are accepted at a residual
        of 0.01, which is enough for eigenvectors of little weight.
    allow_double : bool
        Whether to filter in float64 when float32 makes no more progress. Otherwise the iteration
        ends after a few rounds without progress.
    max_rounds : int
        Most rounds of filtering.

    Returns
    -------
    ritz : RitzVectors
        The wanted vectors, in falling order of their eigenvalues.
    converged : bool
        Whether they are as accurate as was asked for.
    """
    n_exact = n_wanted if n_exact is None else n_exact
    n_block = min(operations.n_free, -(-max(n_wanted + 4, int(1.4 * n_wanted)) // 8) * 8)
    X = operations.orthonormal(operations.random_block(n_block, rng))
    cut, degree, double = 0.0, MIN_DEGREE, False
    last, best, n_stalled = np.inf, np.inf, 0
    for _ in range(max_rounds):
        X = operations.orthonormal(operations.filtered(X, cut, degree, double=double))
        values, X, residuals = operations.rayleigh_ritz(X)
        cut = min(float(values[-1]), 1.0 - 1e-9)
        limits = np.full(n_wanted, ROUGH)
        limits[:n_exact] = tol * np.maximum(values[:n_exact] - cut, resolution)
        excesses = residuals[:n_wanted] / limits
        excess = float(excesses.max())
        n_stalled = 0 if excess < 0.75 * best else n_stalled + 1
        best = min(best, excess)
        if excess <= 1.0 or (n_stalled == PATIENCE and not allow_double):
            break
        if excess > last / 4:
            double = allow_double
        last = excess
        last_unfinished = int(np.flatnonzero(excesses > 1.0)[-1])
        degree = degree_for(float(values[last_unfinished]), cut, min(GAIN, 10.0 * excess))
    ritz = RitzVectors(values[:n_wanted], X[:, :n_wanted], residuals[:n_wanted])
    return ritz, excess <= 1.0


def chebyshev_filter(combine: Combination[Block], X: Block, cut: float, degree: int) -> Block:
    """Apply the Chebyshev polynomial that is at most one on [-1, cut], scaled to one at 1.

    The scaling is part of the recurrence, whose terms would overflow without it. The storage of X
    may be overwritten.
    """
    center, radius = (cut - 1.0) / 2, (cut + 1.0) / 2
    first = sigma = radius / (1.0 - center)
    previous, current = X, combine(X, None, sigma / radius, center, 0.0)
    for _ in range(degree - 1):
        following = 1.0 / (2.0 / first - sigma)
        scale, weight = 2.0 * following / radius, sigma * following
        previous, current = current, combine(current, previous, scale, center, weight)
        sigma = following
    return current


def degree_for(value: float, cut: float, gain: float) -> int:
    """Return the degree at which the polynomial of [-1, cut] grows by `gain` at `value`."""
    beyond = max(2.0 * (value - cut) / (cut + 1.0), 1e-12)
    return int(np.clip(np.arccosh(gain) / np.arccosh(1.0 + beyond), MIN_DEGREE, MAX_DEGREE))
