"""What a selection of parameters returns."""

from dataclasses import dataclass
from typing import NamedTuple

from dssc._typing import Array
from dssc.engines import AffinityGraph
from dssc.spectral.number import ClusterCount


class Candidate(NamedTuple):
    """Parameters that were tried.

    Attributes
    ----------
    eta1 : float
        Ridge penalty, as it would be used for all points.
    n_neighbors : int or None
        Neighbours per point; None where eta2 was given, or where no graph was made.
    signed : bool
        Whether negative coefficients count as no similarity.
    distance : float or None
        Mean squared distance of points from their neighbourhood, which eta1 is chosen by; None
        where eta1 was given. See :mod:`dssc.selection.neighborhoods`.
    modularity : float or None
        Share of affinity inside the clusters of the best start, less what chance would put there;
        None where nothing was clustered.
    residual : float or None
        Mean squared distance of held-out points from the subspace of their cluster, with
        ``affine=True``; None otherwise.
    n_pieces : int or None
        Connected components of the graph; None where no graph was made.
    stray_share : float or None
        Share of points in components with at most half as many other points as neighbours.
    """

    eta1: float
    n_neighbors: int | None
    signed: bool = False
    distance: float | None = None
    modularity: float | None = None
    residual: float | None = None
    n_pieces: int | None = None
    stray_share: float | None = None


@dataclass(frozen=True)
class Choice:
    """The outcome of a selection.

    Attributes
    ----------
    candidates : list of Candidate
        What was tried, the best first.
    explanation : str
        What was chosen and why, in words; empty where nothing was.
    count : ClusterCount or None
        The estimated number of clusters, where it was not given.
    graph : AffinityGraph or None
        The affinity of all points for the best candidate; None where only a sample was clustered.
    embedding : ndarray of shape (n_samples, n_components) or None
        Its leading eigenvectors.
    labels : ndarray of shape (n_samples,) or None
        A vote of the best clusterings of all points.
    """

    candidates: list[Candidate]
    explanation: str = ""
    count: ClusterCount | None = None
    graph: AffinityGraph | None = None
    embedding: Array | None = None
    labels: Array | None = None

    @property
    def best(self) -> Candidate:
        """The candidate that was chosen."""
        return self.candidates[0]
