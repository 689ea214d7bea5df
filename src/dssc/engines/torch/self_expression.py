"""The self-expression of a data set on a device."""

from typing import Any

import torch
from scipy import sparse

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines.torch.directed_problem import DirectedProjection, DirectedProjectionProblem
from dssc.engines.torch.graph import csr_on_host
from dssc.engines.torch.projection_problem import TorchProjection, TorchProjectionProblem
from dssc.result import ProjectionResult


class TorchExpression:
    """C by least squares on a device, never formed as a whole.

    Implements :class:`dssc.engines.protocol.SelfExpression`.
    """

    weights: Array | None = None  # all samples count the same

    def __init__(
        self,
        X: Any,
        eta1: float,
        symmetric: bool,
        signed: bool,
        device: torch.device,
        progress: Progress,
    ):
        problem = TorchProjectionProblem if symmetric else DirectedProjectionProblem
        self.problem = problem(X, eta1, signed, device, progress)

    def coefficients(self, projection: ProjectionResult | None) -> sparse.csr_array:
        """Return the entries of C off the diagonal where the projection is positive."""
        assert isinstance(projection, TorchProjection | DirectedProjection)
        return csr_on_host(projection.device_coefficients, self.problem.shape)

    def similarities(self, rows: Array) -> Array:
        """Return rows of ``K + K'`` to about three digits."""
        return self.problem.similarities(rows)
