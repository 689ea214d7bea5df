"""The course of a joint solver, and the result it ends with."""

import time
from dataclasses import dataclass, field

import numpy as np

from dssc._devices import as_array
from dssc._typing import Matrix
from dssc.joint.array_types import ArrayT
from dssc.joint.model import JointModel, LowerBound
from dssc.joint.result import JointResult
from dssc.stochastic.similarity import Potentials


@dataclass
class History:
    """Values of the model during the iterations, with the seconds since the start."""

    values: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    start: float = field(default_factory=time.perf_counter)

    def record(self, value: float) -> None:
        """Add a value."""
        self.values.append(value)
        self.seconds.append(time.perf_counter() - self.start)


@dataclass
class Bounds:
    """The model's value at the current point, and the best lower bound of the optimum so far."""

    value: float = np.inf
    dual: float = -np.inf
    potentials: Potentials | None = None

    def raise_dual(self, bound: LowerBound) -> None:
        """Take a lower bound if it is better than all before."""
        if bound.value >= self.dual:
            self.dual, self.potentials = bound.value, bound.potentials

    @property
    def gap(self) -> float:
        """The relative duality gap; infinite before there is a lower bound."""
        return relative_gap(self.value, self.dual) if np.isfinite(self.dual) else np.inf

    def projection_potentials(self, model: JointModel[ArrayT]) -> Potentials | None:
        """Return the potentials (alpha, beta) of a projection that belong to the lower bound."""
        if self.potentials is None:
            return None
        a, b = self.potentials
        factor = -model.eta1 * model.eta2
        return a / factor, b / factor


def relative_gap(objective: float, dual: float) -> float:
    """Return ``(objective - dual) / max(1, |dual|)``."""
    return (objective - dual) / max(1.0, abs(dual))


def certified_result(
    model: JointModel[ArrayT],
    C: ArrayT,
    A: Matrix,
    potentials: Potentials | None,
    dual: float,
    *,
    history: History,
    tol: float,
    n_iter: int,
    steps: str,
    remedy: str = "raise max_iter or tol, or use float64 input",
) -> JointResult:
    """Project W once more, so that A is sparse and its sums are one, and certify the result.

    For this W the projection is the best A, so the objective does not grow.

    Parameters
    ----------
    model : JointModel
        The problem.
    C, A : matrices
        The solver's last point.
    potentials : tuple of two ndarrays or None
        Potentials (alpha, beta) from which the projection starts.
    dual : float
        The best lower bound of the optimum.
    history : History
        The course of the iterations.
    tol : float
        The gap that was asked for.
    n_iter : int
        Number of iterations.
    steps : str
        What the solver calls its iterations.
    remedy : str
        What to change if the gap is above `tol`.
    """
    projection = model.project(model.best_W(C, A), potentials)
    objective = model.upper_bound(C, projection.plan)
    if not np.isfinite(dual):
        dual = model.lower_bound_at(C, projection.potentials).value
    gap = relative_gap(objective, dual)
    representation = as_array(C)
    overlap = model.overlap(C, projection.plan)
    overlap = overlap[overlap > np.sqrt(np.finfo(representation.dtype).eps) * model.eta2]
    converged = gap <= tol and projection.converged
    text = f"gap {gap:.1e} (objective {objective:.7g}, dual {dual:.7g}) after {n_iter} {steps}"
    if converged:
        status = f"converged: {text}, tol={tol:.1e}"
    else:
        status = f"not converged: {text}, wanted tol={tol:.1e}; {remedy}"
    return JointResult(
        representation=representation,
        plan=projection.plan,
        potentials=projection.potentials,
        objective=objective,
        dual=dual,
        gap=gap,
        history=np.array(history.values),
        seconds=np.array(history.seconds),
        marginal_error=projection.marginal_error,
        residuals=(projection.marginal_error, gap),
        n_overlaps=len(overlap),
        largest_overlap=float(overlap.max(initial=0.0)),
        n_iter=n_iter,
        converged=converged,
        status=status,
    )
