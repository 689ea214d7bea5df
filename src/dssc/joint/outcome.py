"""Turning what a joint solver found into a result that says how good it is."""

import numpy as np

from dssc._devices import as_array, is_single
from dssc.joint.model import JointModel
from dssc.joint.result import JointResult


def relative_gap(model: JointModel, C, potentials, objective: float):
    """Return the dual bound from C and a projection's potentials, and the relative gap."""
    factor = -model.eta1 * model.eta2
    start = tuple(factor * w for w in potentials)
    R = model.residual(C)
    dual, _ = model.lower_bound(model.products(R), start, R @ model.X.T)
    return dual, (objective - dual) / max(1.0, abs(dual))


def finish(
    model: JointModel, C, A, potentials, dual: float, *, tol, n_iter, records, steps, remedy=""
) -> JointResult:
    """Project W once more, so that A is sparse and its sums are one, and certify what results.

    For W as it is the projection is the best A, so the objective cannot grow.
    """
    projection = model.project(model.best_W(C, A), potentials)
    objective = model.upper_bound(C, projection.plan)
    if not np.isfinite(dual):
        dual, _ = relative_gap(model, C, projection.potentials, objective)
    gap = (objective - dual) / max(1.0, abs(dual))
    overlap = model.overlap(C, projection.plan)
    precision = np.finfo(np.float32 if is_single(C) else np.float64)
    overlap = overlap[overlap > np.sqrt(precision.eps) * model.eta2]
    converged = gap <= tol and projection.converged
    text = f"gap {gap:.1e} (objective {objective:.7g}, dual {dual:.7g}) after {n_iter} {steps}"
    if converged:
        status = f"converged: {text}, tol={tol:.1e}"
    else:
        remedy = remedy or "raise max_iter or tol, or use float64 input"
        status = f"not converged: {text}, wanted tol={tol:.1e}; {remedy}"
    return JointResult(
        representation=as_array(C),
        plan=projection.plan,
        potentials=projection.potentials,
        objective=objective,
        dual=dual,
        gap=gap,
        history=np.array(records[0]),
        seconds=np.array(records[1]),
        marginal_error=projection.marginal_error,
        residuals=(projection.marginal_error, gap),
        n_overlaps=len(overlap),
        largest_overlap=float(overlap.max(initial=0.0)),
        n_iter=n_iter,
        converged=converged,
        status=status,
    )
