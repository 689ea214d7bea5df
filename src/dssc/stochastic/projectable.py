"""What an engine offers to the search for eta2: similarities that can be projected at any eta2."""

from typing import Protocol

from dssc._progress import Progress
from dssc._typing import Array
from dssc.result import ProjectionResult
from dssc.stochastic.near_pairs import NearPairs


class Projectable(Protocol):
    """Similarities K of n samples, kept with what one projection leaves for the next.

    Implemented by :class:`dssc.stochastic.ProjectionProblem` on the CPU and by
    `dssc.engines.torch.projection_problem.TorchProjectionProblem` on a device.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of K."""

    @property
    def largest(self) -> float:
        """A bound on the absolute values of the entries, close to their largest."""

    def largest_entries(self, count: int, progress: Progress) -> Array:
        """Return the `count` largest entries of each row, or of a sample of rows, sorted."""

    def solve(
        self,
        eta2: float,
        *,
        tol: float,
        max_iter: int,
        potentials: tuple[Array, Array] | None = None,
        progress: Progress | None = None,
    ) -> ProjectionResult:
        """Project K for one eta2, starting from given potentials or from the last ones."""

    def near_pairs(self, result: ProjectionResult) -> NearPairs:
        """Return the pairs that a projection of a symmetric K connects, or nearly so."""
