"""The front door of the joint model's solvers."""

import numpy as np

from dssc._memory import available_bytes, check_matrices
from dssc._typing import Array
from dssc.joint import alternating, linearized_admm, newton, splitting
from dssc.joint.array_types import ArrayT
from dssc.joint.model import JointModel
from dssc.joint.result import JointResult

# Most iterations of each solver unless `max_iter` is given.
SOLVERS = {"auto": 400, "splitting": 400, "newton": 50, "linearized-admm": 2000}
# Data are flat if they have this many times fewer dimensions than points. C is not determined then,
# and the splitting is slow.
FLAT = 4
# Most points of flat data for which Newton rounds come first, without eta3.
NEWTON_FIRST = 1000
# The same number with eta3, where every row is a problem of its own.
NEWTON_FIRST_SPARSE = 500
# Newton rounds before or after another solver.
FINAL_ROUNDS = 10
# Most points for Newton rounds after another solver; they take minutes at most.
FINAL_LARGEST = 3000
# n x n arrays that a solver may hold at once.
MATRICES = 6


def solve_joint(
    X: Array,
    eta1: float,
    eta2: float,
    eta3: float,
    *,
    solver: str = "auto",
    alternating_steps: int | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
) -> JointResult:
    """Learn C and the doubly stochastic A together, (model), from samples of unit norm.

    The caller checks the parameters; see :class:`dssc.JDSSC` for their meaning.
    """
    check_memory(len(X), X.dtype, MATRICES, available_bytes())
    model = JointModel(X, eta1, eta2, eta3)
    if alternating_steps is not None:
        return alternating.solve(model, tol=tol, n_steps=alternating_steps)
    few = NEWTON_FIRST if eta3 == 0.0 else NEWTON_FIRST_SPARSE
    if solver == "auto" and FLAT * X.shape[1] <= len(X) <= few:
        rounds = FINAL_ROUNDS if max_iter is None else max_iter
        result = newton.solve(model, tol=tol, max_iter=rounds)
        if result.converged or max_iter is not None:
            return result
    return solve_model(model, model, solver=solver, tol=tol, max_iter=max_iter)


def solve_model(
    model: JointModel[ArrayT],
    on_cpu: JointModel[Array],
    *,
    solver: str,
    tol: float,
    max_iter: int | None,
) -> JointResult:
    """Run a solver where the matrices of the model are held.

    "auto" is the splitting. If that does not converge, Newton rounds follow, unless `max_iter` is
    given or there are too many points. Newton rounds always run on the CPU.

    Parameters
    ----------
    model : JointModel
        The problem.
    on_cpu : JointModel
        The same problem with X in main memory.
    solver : str
        A key of `SOLVERS`.
    tol : float
        Largest relative duality gap; for "linearized-admm" the largest residual.
    max_iter : int or None
        Most iterations; None for the number in `SOLVERS`.
    """
    most = SOLVERS[solver] if max_iter is None else max_iter
    if solver == "newton":
        return newton.solve(on_cpu, tol=tol, max_iter=most)
    if solver == "linearized-admm":
        return linearized_admm.solve(model, tol=tol, max_iter=most)
    result = splitting.solve(model, tol=tol, max_iter=most)
    complete = result.converged or solver == "splitting" or max_iter is not None
    if complete or model.n > FINAL_LARGEST:
        return result
    refined = newton.solve(on_cpu, tol=tol, max_iter=FINAL_ROUNDS, start=result)
    return refined if refined.gap < result.gap else result


def check_memory(
    n: int, dtype: np.dtype, n_matrices: int, free: int | None, place: str = ""
) -> None:
    """Refuse a joint model whose matrices do not fit into memory; see `check_matrices`."""
    check_matrices(
        "the joint model",
        n,
        n_matrices,
        free,
        "Use ADSSC, which approximates it without them, or fewer points",
        itemsize=dtype.itemsize,
        place=place,
    )
