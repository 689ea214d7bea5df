"""How far computed potentials can be from exact ones.

The duality gap bounds the distance e of a plan A from the exact one in the Frobenius norm, so an
entry above e is positive in both: a *sure* entry. There the sum of two exact potentials is
``K_ij - eta2 A*_ij``, so the errors of two potentials have the sum ``w_ij = A*_ij - A_ij``, in
units of A. Along a walk over sure entries of odd length L from a point back to itself, these sums
with alternating signs leave twice the error of that point. We join two shortest walks from a root,
an even and an odd one. Each of them uses an entry and its mirror image once at most, so both
together use a pair of points m <= 4 times, and a point with itself m <= 2 times. With
``sum of w^2 <= e^2`` over all entries, Cauchy's inequality gives ``sum of m |w| <= e sqrt(2 L)``,
and an error of at most ``e sqrt(L / 2)``. Rounding of every step, at most r, adds ``r L / 2``.

In a bipartite component of the sure entries there are no such walks. Raising the potentials of one
side and lowering those of the other changes none of its entries, so exact potentials may not be
unique there. Some of them have no error at a point that we choose, the root, and at the others an
error of at most e times the square root of the distance from it. They are exact
potentials of the whole problem if the sides have equally many points and every other entry of these
points has a slack below zero: then the dual value at them is at least the largest one.
"""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra

from dssc._typing import Array, Matrix

# Roundings in one slack ``K_ij - alpha_i - alpha_j``, with one to spare.
SLACK_ROUNDINGS = 4
# Relative distance of a plan from the exact one from which nothing is bounded.
LARGEST_DISTANCE = 0.5


class PotentialErrors(NamedTuple):
    """Bounds on the errors of potentials, in units of the plan's entries.

    Attributes
    ----------
    bounds : ndarray of shape (n,)
        Bound for every point; infinite where nothing is known.
    is_free : ndarray of shape (n,)
        Points of bipartite components. Their bounds are valid if all their entries that are not
        sure have slacks below zero, with the bounds added.
    sure : csr_array of shape (n, n)
        Entries that are positive in the exact plan.
    component : ndarray of shape (n,)
        Component of the sure entries that each point belongs to.
    side : ndarray of shape (n,)
        The side of a free point in its component, 1 or -1; 0 for other points.
    """

    bounds: Array
    is_free: Array
    sure: sparse.csr_array
    component: Array
    side: Array


def potential_errors(plan: Matrix, gap: float, resolution: float) -> PotentialErrors:
    """Bound the errors of the potentials of a symmetric projection.

    Parameters
    ----------
    plan : csr_array or ndarray of shape (n, n)
        The symmetric plan A, the positive part of the slacks.
    gap : float
        Its relative duality gap; see :class:`dssc.result.ProjectionResult`.
    resolution : float
        Rounding of a slack in units of A, ``eps * max|K| / eta2``.
    """
    A = sparse.csr_array(plan)
    n, distance = A.shape[0], np.sqrt(2.0 * gap)
    if distance >= LARGEST_DISTANCE:
        nothing = sparse.csr_array((n, n), dtype=bool)
        no_side = np.zeros(n, dtype=int)
        return PotentialErrors(np.full(n, np.inf), no_side > 0, nothing, np.arange(n), no_side)
    # With B the plan rounded to feasibility, |A - A*|^2 + |B - A*|^2 <= distance^2 |B|^2.
    error = distance * np.sqrt(np.sum(A.data**2)) / (1.0 - np.sqrt(2.0) * distance)
    rounding = SLACK_ROUNDINGS * resolution
    return errors_along_walks(sparse.csr_array(error + rounding < A), error, rounding)


def errors_along_walks(
    sure: sparse.csr_array, error: Array | float, rounding: float
) -> PotentialErrors:
    """Bound errors of potentials along walks over sure entries.

    Parameters
    ----------
    sure : csr_array of shape (n, n)
        Entries that are positive in the plan and in the exact one, as a symmetric matrix.
    error : float or ndarray of shape (n,)
        Distance of the plan from the exact one: of all of it, or of the part that each point
        belongs to, where parts are not connected.
    rounding : float
        Rounding of an entry of the plan.
    """
    component = connected_components(sure, directed=False)[1]
    even, odd = _walks(sure, component)
    is_free = np.isinf(even) | np.isinf(odd)
    side = np.where(is_free, np.where(np.isinf(odd), 1, -1), 0)
    is_balanced = np.bincount(component, side) == 0
    walks = np.where(is_free, np.minimum(even, odd), (even + odd) / 2)
    bounds = error * np.sqrt(walks) + rounding * walks
    bounds = np.where(is_balanced[component], bounds, np.inf)
    return PotentialErrors(bounds, is_free, sure, component, side)


def _walks(edges: sparse.csr_array, component: Array) -> tuple[Array, Array]:
    """Return the shortest even and odd walks from the root of its component to every vertex.

    In the double cover each vertex has an even and an odd copy, and edges join copies of different
    kind. A path from the even copy of a root to a copy of a vertex is a walk of that parity. Both
    walks together lead from the vertex back to itself in an odd number of steps.
    """
    n = edges.shape[0]
    roots = np.unique(component, return_index=True)[1]
    cover = sparse.block_array([[None, edges], [edges, None]], format="csr").astype(np.float64)
    lengths = dijkstra(cover, directed=False, indices=roots, unweighted=True, min_only=True)
    return lengths[:n], lengths[n:]
