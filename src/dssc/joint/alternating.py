"""Alternating minimisation of the joint model: C for given A, then A for given W."""

import time

import numpy as np

from dssc.expression import least_squares_representation
from dssc.joint.model import JointModel, blocks, entries
from dssc.joint.outcome import finish, relative_gap
from dssc.joint.result import JointResult

CHANGE = 1e-8  # relative change of C at which its minimisation ends
MAX_STEPS = 5000


def solve(model: JointModel, *, tol: float, n_steps: int) -> JointResult:
    r"""Take `n_steps` turns of minimising over C and then over A.

    The first turn starts from ``A = I``, which asks nothing of C off the diagonal: it is (minC),
    then (jminA), that is A-DSSC. Later turns minimise (model) over (C_p, C_q) for the A at hand,
    with its dead zone, and then take the projection of ``W = C_p + C_q``. The model's value can
    only fall. It need not reach the optimum: alternating minimisation stops where neither block
    alone can move. `tol` is what the gap is compared with.
    """
    clock = time.perf_counter()
    history, seconds = [], []
    C = least_squares_representation(model.X, model.eta1)
    C = np.ascontiguousarray(C)
    A = potentials = None
    for _ in range(n_steps):
        if A is not None or model.eta3 > 0.0:
            C = minimise_over_C(model, C, A)
        W = np.abs(C) if A is None else model.best_W(C, A)
        projection = model.project(W, potentials)
        A, potentials = projection.plan, projection.potentials
        history.append(model.upper_bound(C, A))
        seconds.append(time.perf_counter() - clock)
    dual, _ = relative_gap(model, C, potentials, history[-1])
    return finish(
        model,
        C,
        A,
        potentials,
        dual,
        tol=tol,
        n_iter=n_steps,
        records=(history, seconds),
        steps="turns",
        remedy="take more alternating_steps, or the default solver for the optimum",
    )


def minimise_over_C(model: JointModel, C, A=None, change: float = CHANGE) -> np.ndarray:
    r"""Minimise the model over C for given A, by accelerated proximal gradients with restarts.

    The penalty of an entry is ``eta1 / 2 (max(|c|, T) - T)^2`` with ``T = eta2 A - eta3 / eta1``,
    so its proximal step leaves ``|v| <= T`` alone and shrinks what lies beyond towards T. Without
    A it is the elastic net's, (minC).
    """
    X = model.X
    L = 1.01 * np.linalg.norm(X, 2) ** 2
    i, j, a = (np.zeros(0, dtype=int),) * 2 + (np.zeros(0),) if A is None else entries(A)
    Y, t = C.copy(), 1.0
    for _ in range(MAX_STEPS):
        step = (X - Y @ X) @ X.T
        step /= L
        Y += step
        new = _proximal(model, Y, i, j, a, L)
        Y -= step  # the point the step was taken from
        np.subtract(new, C, out=step)
        np.subtract(Y, new, out=Y)
        turn = np.vdot(Y, step) > 0.0  # momentum points uphill
        t, last = (1.0, 1.0) if turn else ((1 + np.sqrt(1 + 4 * t * t)) / 2, t)
        moved, size = float(np.linalg.norm(step)), float(np.linalg.norm(new))
        step *= (last - 1) / t
        Y = new + step
        C = new
        if moved <= change * size:
            break
    return C


def _proximal(model, V, i, j, a, L):
    """Return the proximal step of the penalty from V, which is kept."""
    pull = model.eta1 / L
    rest = -model.eta3 / model.eta1
    new = np.empty_like(V)
    for rows in blocks(len(V)):
        v = V[rows]
        new[rows] = np.sign(v) * np.maximum((np.abs(v) + pull * rest) / (1 + pull), 0)
    v = V[i, j]
    target = model.target(a)
    beyond = np.maximum((np.abs(v) + pull * target) / (1 + pull), 0)
    new[i, j] = np.sign(v) * np.where(np.abs(v) <= target, np.abs(v), beyond)
    np.fill_diagonal(new, 0.0)
    return new
