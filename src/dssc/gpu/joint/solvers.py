"""The front door of the joint model's solvers on a device."""

import torch

from dssc.gpu.joint.dense import DeviceEngine
from dssc.gpu.joint.linearized import DeviceState
from dssc.gpu.joint.model import DeviceModel
from dssc.joint import SOLVERS, JointModel, linearized_admm, splitting
from dssc.joint.result import JointResult
from dssc.joint.solvers import completed

MATRICES = 9  # n x n arrays a solver may hold at once


def solve_joint_on_device(
    X, eta1, eta2, eta3, *, solver="auto", tol=1e-6, max_iter=None, device
) -> JointResult:
    """Learn C and the doubly stochastic A together on a device; see :func:`dssc.joint.solve_joint`.

    X is an array of samples of unit norm; results are arrays in main memory. "auto" splits, however
    few points there are.
    """
    check_memory(len(X), X.dtype, device)
    model = DeviceModel(torch.as_tensor(X).to(device), eta1, eta2, eta3)
    most = SOLVERS[solver] if max_iter is None else max_iter
    if solver == "linearized-admm":
        return linearized_admm.solve(model, tol=tol, max_iter=most, state=DeviceState(model))
    result = splitting.solve(model, DeviceEngine(model), tol=tol, max_iter=most)
    if solver == "splitting" or max_iter is not None:
        return result
    return completed(JointModel(X, eta1, eta2, eta3), result, tol)


def check_memory(n: int, dtype, device) -> None:
    """Refuse a problem whose matrices do not fit on the device, before anything is allocated."""
    if device.type != "cuda":
        return
    needed = MATRICES * n * n * dtype.itemsize
    free = torch.cuda.mem_get_info(device)[0]
    if needed > free:
        raise MemoryError(
            f"the joint model of n_samples={n} points needs about {needed} bytes on {device} "
            f"({MATRICES} matrices of {n} x {n} in {dtype}); {free} are free. "
            "Use ADSSC, which approximates it without them, or fewer points"
        )
