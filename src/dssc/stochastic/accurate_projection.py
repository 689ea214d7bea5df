"""A projection as accurate as float64 allows, with bounds on the errors of its potentials."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from dssc._typing import Array
from dssc.stochastic.certificate import duality_gap, rounding_gap
from dssc.stochastic.dual import GraphDual
from dssc.stochastic.near_pairs import NearPairs
from dssc.stochastic.newton import solve_dual
from dssc.stochastic.potential_error import SLACK_ROUNDINGS, PotentialErrors, potential_errors

# Tolerance of the projection: as accurate as float64 allows.
PROOF_TOL = 1e-14
# Most Newton steps.
PROOF_STEPS = 1000
# How often free components are moved away from others.
CENTERINGS = 4


@dataclass(frozen=True)
class AccurateProjection:
    """A projection with what is proved about it.

    Attributes
    ----------
    eta2 : float
        Regularisation.
    potentials : ndarray of shape (n,)
        The computed potentials.
    errors : ndarray of shape (n,)
        Some exact potentials differ from the computed ones by at most this, in units of K. Infinite
        where nothing is proved.
    rounding : float
        Bound on the rounding of a computed slack.
    plan : csr_array of shape (n, n)
        The plan A.
    """

    eta2: float
    potentials: Array
    errors: Array
    rounding: float
    plan: sparse.csr_array

    @property
    def is_known(self) -> Array:
        """Which potentials have a bound."""
        return np.isfinite(self.errors)

    def safe_potentials(self, lowered: Array | float = 0.0) -> Array:
        """Return potentials that exact ones are not below, perhaps lowered by more.

        Points of which nothing is known get potentials so high that they do not matter.
        """
        high = 4.0 * self.rounding / (SLACK_ROUNDINGS * np.finfo(float).eps)
        return np.where(self.is_known, self.potentials - self.errors - lowered, high)


def accurate_projection(near: NearPairs, eta2: float, start: Array) -> AccurateProjection:
    """Project a symmetric K from its near pairs, and bound the errors of the potentials.

    Parameters
    ----------
    near : NearPairs
        The near pairs of K. Nothing is proved if others can be connected.
    eta2 : float
        Regularisation.
    start : ndarray of shape (n,)
        Potentials to start from.
    """
    support, ones = near.support, np.ones(len(start))
    dual = GraphDual(support.graph, ones)
    solution = solve_dual(dual, eta2, start, PROOF_TOL / 2, PROOF_STEPS)
    alpha = solution.potentials
    plan = support.plan(solution.slack)
    own = near.similarities.diagonal()
    gap = duality_gap(
        plan,
        lambda rows, columns: own[rows],  # a symmetric problem asks for its diagonal only
        (alpha, alpha),
        (ones, ones),
        eta2,
        PROOF_TOL,
        symmetric=True,
    )
    largest = float(np.abs(near.similarities.data).max() + np.abs(alpha).max())
    resolution = np.finfo(float).eps * largest / eta2
    gap += rounding_gap(plan.nnz, float(np.sum(plan.data**2)), resolution)
    found = potential_errors(plan, gap, resolution)
    rounding = SLACK_ROUNDINGS * eta2 * resolution
    if found.is_free.any():
        alpha = _centered(near, alpha, found)
    errors = eta2 * found.bounds
    if not near.hold_all_positive(alpha - rounding):
        errors = np.full_like(errors, np.inf)
    projection = AccurateProjection(eta2, alpha, errors, rounding, plan)
    if found.is_free.any() and not are_closed(near, [projection], found):
        errors[found.is_free] = np.inf
    return projection


def _centered(near: NearPairs, potentials: Array, found: PotentialErrors) -> Array:
    """Return potentials whose free components are as far as possible from other points.

    One side of a free component may rise as far as the other one falls. The highest slacks of the
    two sides, to points outside, are made equal.
    """
    component, side = found.component, found.side
    n_components = component.max() + 1
    outside = np.flatnonzero(_are_other_pairs_of_free(near, found))
    own = near.rows[outside]
    outside, own = outside[side[own] != 0], own[side[own] != 0]
    for _ in range(CENTERINGS):  # components next to each other wait for each other
        highest = np.full((2, n_components), -np.inf)
        slacks = near.slacks(potentials)[outside]
        np.maximum.at(highest, ((side[own] + 1) // 2, component[own]), slacks)
        is_bounded = np.all(np.isfinite(highest), axis=0)
        excess = np.where(is_bounded, highest[1], 0.0) - np.where(is_bounded, highest[0], 0.0)
        potentials = potentials + side * excess[component] / 4  # half way
    return potentials


def _are_other_pairs_of_free(near: NearPairs, found: PotentialErrors) -> Array:
    """Return which near pairs have a free point and are not sure."""
    rows, columns = near.rows, near.similarities.indices
    is_sure = np.asarray(found.sure[rows, columns], dtype=bool).ravel()
    return (found.is_free[rows] | found.is_free[columns]) & ~is_sure


def are_closed(
    near: NearPairs,
    projections: list[AccurateProjection],
    found: PotentialErrors,
    lowered: Array | float = 0.0,
) -> bool:
    """Return whether free points have no entries but sure ones, at potentials that are safe."""
    others = np.flatnonzero(_are_other_pairs_of_free(near, found))
    for projection in projections:
        safe = projection.safe_potentials(lowered) - projection.rounding
        rises = near.rises(safe)
        is_open = rises[found.is_free].max() + rises.max() > 0.0
        if not projection.is_known.all() or is_open or np.any(near.slacks(safe)[others] > 0.0):
            return False
    return True
