"""From X to C and A together: the joint model, J-DSSC."""

from dssc.joint.model import JointModel
from dssc.joint.result import JointResult
from dssc.joint.solvers import SOLVERS, solve_joint

__all__ = ["SOLVERS", "JointModel", "JointResult", "solve_joint"]
