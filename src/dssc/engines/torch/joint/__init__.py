"""J-DSSC on torch tensors: the operations of the joint model, and its front door."""

from dssc.engines.torch.joint.solvers import solve_joint_on_device

__all__ = ["solve_joint_on_device"]
