"""The front door of the joint model's solvers on a device."""

import torch

from dssc._typing import Array
from dssc.engines.torch.joint.operations import TorchOperations
from dssc.joint import JointModel
from dssc.joint.result import JointResult
from dssc.joint.solvers import check_memory, solve_model

# n x n tensors that a solver may hold at once.
MATRICES = 9


def solve_joint_on_device(
    X: Array,
    eta1: float,
    eta2: float,
    eta3: float,
    *,
    solver: str = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    device: torch.device,
) -> JointResult:
    """Learn C and the doubly stochastic A together on a device; see :func:`dssc.joint.solve_joint`.

    X is an array of samples of unit norm; results are arrays in main memory. "auto" starts with the
    splitting, even for few points.
    """
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else None
    check_memory(len(X), X.dtype, MATRICES, free, str(device))
    tensor = torch.as_tensor(X).to(device)
    model = JointModel(tensor, eta1, eta2, eta3, TorchOperations(device))
    on_cpu = JointModel(X, eta1, eta2, eta3)
    return solve_model(model, on_cpu, solver=solver, tol=tol, max_iter=max_iter)
