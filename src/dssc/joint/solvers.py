"""The front door of the joint model's solvers."""

from importlib import import_module

from dssc._memory import available_bytes
from dssc.joint.model import JointModel
from dssc.joint.result import JointResult

# The modules, and the iterations each takes at most when not told otherwise.
SOLVERS = {"newton": ("newton", 50), "linearized-admm": ("linearized_admm", 2000)}
MATRICES = 6  # n x n arrays a solver may hold at once


def solve_joint(
    X, eta1, eta2, eta3, *, solver="newton", alternating_steps=None, tol=1e-6, max_iter=None
) -> JointResult:
    """Learn C and the doubly stochastic A together, (model), from samples of unit norm.

    Parameters are checked by the caller; see :class:`dssc.JDSSC` for their meaning.
    """
    check_memory(len(X), X.dtype)
    model = JointModel(X, eta1, eta2, eta3)
    if alternating_steps is not None:
        from dssc.joint import alternating

        return alternating.solve(model, tol=tol, n_steps=alternating_steps)
    name, default = SOLVERS[solver]
    solve = import_module(f"dssc.joint.{name}").solve
    return solve(model, tol=tol, max_iter=default if max_iter is None else max_iter)


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
