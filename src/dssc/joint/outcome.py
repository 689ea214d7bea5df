"""Turning what a joint solver found into a result that says how good it is."""

from dssc.joint.model import JointModel
from dssc.stochastic import ProjectionProblem

PROJECTION_TOL = 1e-9


def project(W, model: JointModel, potentials=None):
    """Return the doubly stochastic projection of W: the best A for it."""
    problem = ProjectionProblem(W)
    return problem.solve(model.eta2, tol=PROJECTION_TOL, potentials=potentials)


def relative_gap(model: JointModel, C, potentials, objective: float):
    """Return the dual bound from C and a projection's potentials, and the relative gap."""
    factor = -model.eta1 * model.eta2
    start = tuple(factor * w for w in potentials)
    dual, _ = model.lower_bound(model.residual(C), start)
    return dual, (objective - dual) / max(1.0, abs(dual))
