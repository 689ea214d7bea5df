"""Alternating minimisation of the joint model: C for given A, then A for given W."""

import numpy as np

from dssc._typing import Array, Matrix
from dssc.joint.blocks import row_blocks
from dssc.joint.entries import stored_entries
from dssc.joint.model import JointModel
from dssc.joint.outcome import History, certified_result
from dssc.joint.penalty import CouplingPenalty
from dssc.joint.result import JointResult

# The minimisation over C ends when C changes by less than this, relative to its norm.
CHANGE = 1e-8
# Most steps of one minimisation over C.
MAX_STEPS = 5000


def solve(model: JointModel[Array], *, tol: float, n_steps: int) -> JointResult:
    r"""Minimise over C and then over A, `n_steps` times.

    The first step starts from ``A = I``, which does not constrain C off the diagonal. It is (minC),
    then (jminA), that is, A-DSSC. Later steps minimise (model) over (C_p, C_q) for the current A,
    with its dead zone, and then take the projection of ``W = C_p + C_q``. The model's value never
    rises. It need not reach the optimum: alternating minimisation stops where neither C nor A alone
    can improve. The gap is compared with `tol`.
    """
    history = History()
    C = model.operations.least_squares(model.X, model.eta1)
    if model.eta3 > 0.0:
        C = minimise_over_C(model, C)
    projection = model.project(np.abs(C))
    history.record(model.upper_bound(C, projection.plan))
    for _ in range(n_steps - 1):
        C = minimise_over_C(model, C, projection.plan)
        W = model.best_W(C, projection.plan)
        projection = model.project(W, projection.potentials)
        history.record(model.upper_bound(C, projection.plan))
    return certified_result(
        model,
        C,
        projection.plan,
        projection.potentials,
        model.lower_bound_at(C, projection.potentials).value,
        history=history,
        tol=tol,
        n_iter=n_steps,
        steps="alternating steps",
        remedy="raise alternating_steps, or use the default solver for the optimum",
    )


def minimise_over_C(
    model: JointModel[Array], C: Array, A: Matrix | None = None, change: float = CHANGE
) -> Array:
    r"""Minimise the model over C for given A, by accelerated proximal gradients with restarts.

    The penalty of an entry is ``eta1 / 2 (max(|c|, T) - T)^2`` with ``T = eta2 A - eta3 / eta1``.
    Its proximal step leaves ``|v| <= T`` unchanged and shrinks larger entries towards T. Without A
    it is the proximal step of the elastic net, (minC).
    """
    X = model.X
    L = 1.01 * np.linalg.norm(X, 2) ** 2
    places = np.zeros(0, dtype=int)
    entries = (places, places, np.zeros(0)) if A is None else stored_entries(A)
    Y, t = C.copy(), 1.0
    for _ in range(MAX_STEPS):
        step = (X - Y @ X) @ X.T
        step /= L
        Y += step
        new = _proximal_step(model.penalty, Y, entries, L)
        Y -= step  # the point from which the step was taken
        np.subtract(new, C, out=step)
        np.subtract(Y, new, out=Y)
        uphill = np.vdot(Y, step) > 0.0  # the momentum raises the value: restart
        t, last = (1.0, 1.0) if uphill else ((1 + np.sqrt(1 + 4 * t * t)) / 2, t)
        moved, size = float(np.linalg.norm(step)), float(np.linalg.norm(new))
        step *= (last - 1) / t
        Y = new + step
        C = new
        if moved <= change * size:
            break
    return C


def _proximal_step(
    penalty: CouplingPenalty, V: Array, entries: tuple[Array, Array, Array], L: np.floating
) -> Array:
    """Return the proximal step of the penalty from V, for given entries of A."""
    pull = penalty.eta1 / L
    target_without_A = -penalty.eta3 / penalty.eta1
    new = np.empty_like(V)
    for rows in row_blocks(len(V), len(V)):
        v = V[rows]
        shrunk = np.maximum((np.abs(v) + pull * target_without_A) / (1 + pull), 0)
        new[rows] = np.sign(v) * shrunk
    i, j, a = entries
    v = V[i, j]
    target = penalty.target(a)
    shrunk = np.maximum((np.abs(v) + pull * target) / (1 + pull), 0)
    new[i, j] = np.sign(v) * np.where(np.abs(v) <= target, np.abs(v), shrunk)
    np.fill_diagonal(new, 0.0)
    return new
