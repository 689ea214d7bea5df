"""What a selection of parameters returns."""

from dataclasses import dataclass
from typing import NamedTuple

from dssc._typing import Array
from dssc.engines import SelfExpression


class Candidate(NamedTuple):
    """Parameters that were tried.

    Attributes
    ----------
    eta1 : float
        Ridge penalty, as it would be used for all points.
    n_neighbors : int or None
        Neighbours per point; None where eta2 was given.
    stability : float
        Mean adjusted Rand index between the labels from several starts of k-means.
    n_pieces : int
        Connected components of the affinity. A candidate with more components than clusters is
        ruled out, unless all candidates have more.
    modularity : float or None
        Share of affinity inside the clusters of the best start, less what chance would put there,
        in the mean of all graphs with the same eta1; None where that eta1 was not chosen.
    residual : float or None
        Mean squared distance of the points from the best subspaces of dimension 10, one subspace
        for each of these clusters.
    """

    eta1: float
    n_neighbors: int | None
    stability: float = 1.0
    n_pieces: int = 1
    modularity: float | None = None
    residual: float | None = None


@dataclass(frozen=True)
class Choice:
    """The outcome of a selection.

    Attributes
    ----------
    candidates : list of Candidate
        What was tried, the best first.
    labels : ndarray or None
        A vote of the best clusterings of all points; None where only a sample was clustered.
    expression : SelfExpression or None
        The self-expression of all points for the best candidate, where it was computed.
    """

    candidates: list[Candidate]
    labels: Array | None = None
    expression: SelfExpression | None = None

    @property
    def best(self) -> Candidate:
        """The candidate that was chosen."""
        return self.candidates[0]
