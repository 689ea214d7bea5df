"""J-DSSC on a device: the joint model and its solvers, by dense matrices."""

from dssc.gpu.joint.solvers import solve_joint_on_device

__all__ = ["solve_joint_on_device"]
