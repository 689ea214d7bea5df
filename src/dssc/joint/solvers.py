"""The front door of the joint model's solvers."""

from importlib import import_module

from dssc._memory import available_bytes
from dssc.joint.model import JointModel
from dssc.joint.result import JointResult

# The iterations each takes at most when not told otherwise.
SOLVERS = {"auto": 400, "splitting": 400, "newton": 50, "linearized-admm": 2000}
# Points in so many times fewer dimensions leave C undetermined, and the splitting crawls. Up to so
# many points Newton rounds come first then, fewer where eta3 makes each row its own problem.
FLAT = 4
NEWTON_FIRST, NEWTON_FIRST_SPARSE = 1000, 500
# Newton rounds where another solver has gone before or comes after, and the most points for them.
FINAL_ROUNDS = 10
FINAL_LARGEST = 3000
MATRICES = 6  # n x n arrays a solver may hold at once


def solve_joint(
    X, eta1, eta2, eta3, *, solver="auto", alternating_steps=None, tol=1e-6, max_iter=None
) -> JointResult:
    """Learn C and the doubly stochastic A together, (model), from samples of unit norm.

    Parameters are checked by the caller; see :class:`dssc.JDSSC` for their meaning.
    """
    check_memory(len(X), X.dtype)
    model = JointModel(X, eta1, eta2, eta3)
    if alternating_steps is not None:
        from dssc.joint import alternating

        return alternating.solve(model, tol=tol, n_steps=alternating_steps)
    if solver == "auto":
        return _automatic(model, tol, max_iter)
    most = SOLVERS[solver] if max_iter is None else max_iter
    if solver == "splitting":
        return _split(model, tol, most)
    name = {"newton": "newton", "linearized-admm": "linearized_admm"}[solver]
    return import_module(f"dssc.joint.{name}").solve(model, tol=tol, max_iter=most)


def _automatic(model, tol, max_iter):
    """Split, then take Newton rounds where that falls short; these first where that is known."""
    few = NEWTON_FIRST if model.eta3 == 0.0 else NEWTON_FIRST_SPARSE
    if FLAT * model.X.shape[1] <= model.n <= few:
        from dssc.joint import newton

        rounds = FINAL_ROUNDS if max_iter is None else max_iter
        result = newton.solve(model, tol=tol, max_iter=rounds)
        if result.converged or max_iter is not None:
            return result
    if max_iter is not None:
        return _split(model, tol, max_iter)
    return completed(model, _split(model, tol, SOLVERS["splitting"]), tol)


def _split(model, tol, max_iter):
    from dssc.joint import splitting
    from dssc.joint.dense import DenseEngine

    return splitting.solve(model, DenseEngine(model), tol=tol, max_iter=max_iter)


def completed(model: JointModel, result: JointResult, tol: float) -> JointResult:
    """Let Newton rounds start from a result that falls short, where they take minutes at most."""
    if result.converged or model.n > FINAL_LARGEST:
        return result
    from dssc.joint import newton

    other = newton.solve(model, tol=tol, max_iter=FINAL_ROUNDS, start=result)
    return other if other.gap < result.gap else result


def check_memory(n: int, dtype) -> None:
    """Refuse a problem whose matrices do not fit into memory, before anything is allocated."""
    needed = MATRICES * n * n * dtype.itemsize
    available = available_bytes()
    if available is not None and needed > available:
        raise MemoryError(
            f"the joint model of n_samples={n} points needs about {needed} bytes "
            f"({MATRICES} matrices of {n} x {n} in {dtype}); {available} are free. "
            "Use ADSSC, which approximates it without them, or fewer points"
        )
