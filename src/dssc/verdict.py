"""What a clustering is worth, in words: what was found, how sure it is, and what to do next.

The rules rest on stability, the overlap of clusters with those found in random halves of the
points, and on its value for points without clusters. Where these are as stable, as a cloud with one
long axis is, the distance of points from the subspace of their neighbours decides whether there is
structure at all. `benchmarks/verdicts.py` is the study behind the thresholds. Separation and the
affinity inside clusters are reported, but decide nothing: points without clusters can be cut so
that some parts are not connected.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dssc._typing import Array, Matrix
from dssc.separation import Separation
from dssc.stability import Stability

# Mean stability from which a clustering is clear.
CLEAR_FROM = 0.8
# Mean stability above that of points without clusters from which clusters are no matter of chance.
CHANCE_MARGIN = 0.05
# The same if points are as far from the subspace of their neighbours as points without clusters.
CERTAIN_MARGIN = 0.1
# Distance of points from the subspace of their neighbours, relative to points without clusters,
# below which there is structure.
STRUCTURE_BELOW = 0.7
# Stability from which a single cluster counts as found again.
FOUND_AGAIN = 0.6
# Share of clusters that must be found again in a clear clustering. One large cluster beside stray
# points is always found again.
CLEAR_SHARE = 0.75
# Share of the smaller cluster's affinity, from which two clusters are said to touch.
TOUCHING_SHARE = 0.05
# A cluster with fewer points than this share of an equal one is called small.
SMALL_SHARE = 0.1
# Affinity below this joins nothing.
NEGLIGIBLE = 1e-8
# Clusters listed; of more, those that are found again least.
CLUSTERS_LISTED = 12
# Clusters or pairs of clusters named in a sentence.
NAMED = 4

Kind = Literal["clear", "partial", "chance", "single"]


@dataclass(frozen=True)
class Evidence:
    """What a verdict is based on.

    Attributes
    ----------
    sizes : ndarray of shape (n_clusters,)
        Distinct points per cluster.
    stability : Stability
        Overlap with clusters found in halves of the points.
    distance : float
        Distance of points from the subspace of their neighbours, relative to points without
        clusters; see :mod:`dssc.selection.neighborhoods`. NaN where it says nothing.
    inside : ndarray of shape (n_clusters,)
        Mean share of a point's affinity to others inside its cluster.
    mass : ndarray of shape (n_clusters, n_clusters)
        Sum of the affinity between clusters.
    n_joining : ndarray of shape (n_clusters, n_clusters)
        Points of the first cluster that have affinity to the second.
    separation : Separation or None
        Proofs of separation, where they were computed.
    converged : bool
        Whether the projection reached its tolerance.
    """

    sizes: Array
    stability: Stability
    distance: float
    inside: Array
    mass: Array
    n_joining: Array
    separation: Separation | None
    converged: bool

    @property
    def is_above_chance(self) -> bool:
        """Whether clusters are more stable than those of points without clusters."""
        above = self.stability.mean - self.stability.chance
        return above >= (CERTAIN_MARGIN if self.distance >= 1.0 else CHANCE_MARGIN)

    @property
    def touching(self) -> Array:
        """Share of the smaller cluster's affinity that two clusters have in common, if not small.

        Zero for pairs below the share from which clusters are said to touch, and on the diagonal.
        """
        sizes = np.maximum(self.sizes, 1)
        shares = self.mass / np.minimum(sizes, sizes[:, None])
        np.fill_diagonal(shares, 0.0)
        return np.where(shares >= TOUCHING_SHARE, shares, 0.0)


@dataclass(frozen=True)
class Verdict:
    """What a clustering is worth; ``print`` shows it in words.

    Attributes
    ----------
    kind : {"clear", "partial", "chance", "single"}
        Clusters are found again in halves of the points; some of them are; they are no better than
        chance; there is one cluster, and nothing to judge.
    headline : str
        What was found, in one sentence.
    reasons : list of str
        How sure it is.
    next_steps : list of str
        What to do next; empty if there is nothing to do.
    evidence : Evidence
        The numbers behind it.
    """

    kind: Kind
    headline: str
    reasons: list[str]
    next_steps: list[str]
    evidence: Evidence

    def __str__(self) -> str:
        """Return the verdict as a few lines."""
        lines = [f"{self.kind}: {self.headline}", "", "how sure"]
        lines += [f"  - {text}" for text in self.reasons]
        lines += ["", "what to do next"]
        lines += [f"  - {text}" for text in self.next_steps or ["nothing: use the labels"]]
        return "\n".join([*lines, "", *self._table()])

    def _table(self) -> list[str]:
        """Return a line per cluster: all of them, or those that are found again least."""
        found, sizes = self.evidence.stability.clusters, self.evidence.sizes
        order = np.arange(len(sizes))
        if len(sizes) > CLUSTERS_LISTED:
            order = np.argsort(np.nan_to_num(found), kind="stable")[:CLUSTERS_LISTED]
        lines = ["cluster     size  stability  affinity inside"]
        lines += [
            f"{c:7d}  {sizes[c]:7,d}  {found[c]:9.2f}  {self.evidence.inside[c]:15.0%}"
            for c in order
        ]
        n_more = len(sizes) - len(order)
        return (
            [*lines, f"and {n_more} more that are found again as often or more"]
            if n_more
            else lines
        )


def gather_evidence(
    affinity: Matrix,
    labels: Array,
    n_clusters: int,
    shares: Array,
    stability: Stability,
    distance: float,
    separation: Separation | None,
    *,
    converged: bool,
) -> Evidence:
    """Return the evidence on a clustering.

    Parameters
    ----------
    affinity : csr_array or ndarray of shape (n_points, n_points)
        Affinity of the points.
    labels : ndarray of shape (n_points,)
        Their clusters.
    n_clusters : int
        Number of clusters.
    shares : ndarray of shape (n_points,)
        Share of each point's affinity to others that is inside its cluster.
    stability : Stability
        How often clusters are found again.
    distance : float
        Distance from neighbourhoods, relative to points without clusters.
    separation : Separation or None
        Proofs of separation, where they were computed.
    converged : bool
        Whether the projection reached its tolerance.
    """
    members = np.zeros((len(labels), n_clusters))
    members[np.arange(len(labels)), labels] = 1.0
    to_clusters = affinity @ members
    sizes = np.bincount(labels, minlength=n_clusters)
    return Evidence(
        sizes=sizes,
        stability=stability,
        distance=distance,
        inside=np.bincount(labels, shares, minlength=n_clusters) / np.maximum(sizes, 1),
        mass=members.T @ to_clusters,
        n_joining=(members.T @ (to_clusters > NEGLIGIBLE)).astype(int),
        separation=separation,
        converged=converged,
    )


def judge(evidence: Evidence) -> Verdict:
    """Return the verdict on a clustering."""
    kind = _kind(evidence)
    return Verdict(
        kind, _headline(kind, evidence), _reasons(evidence), _steps(kind, evidence), evidence
    )


def _kind(evidence: Evidence) -> Kind:
    if len(evidence.sizes) == 1:
        return "single"
    if not evidence.is_above_chance:
        return "partial" if evidence.distance < STRUCTURE_BELOW else "chance"
    share = np.mean(evidence.stability.clusters >= FOUND_AGAIN)
    is_clear = evidence.stability.mean >= CLEAR_FROM and share >= CLEAR_SHARE
    return "clear" if is_clear else "partial"


def _headline(kind: Kind, evidence: Evidence) -> str:
    k = len(evidence.sizes)
    if kind == "single":
        return "there is one cluster, and nothing to judge"
    if kind == "chance":
        return f"the {k} clusters are no better than those of points without clusters"
    if not evidence.is_above_chance:
        return (
            f"the points have structure, but {k} clusters are found again no better than in points "
            "without clusters"
        )
    n_found = int(np.sum(evidence.stability.clusters >= FOUND_AGAIN))
    if n_found == k:
        certain = "" if kind == "clear" else ", though not exactly"
        return f"all {k} clusters are found again in random halves of the points{certain}"
    share = evidence.sizes[evidence.stability.clusters >= FOUND_AGAIN].sum() / evidence.sizes.sum()
    return (
        f"{n_found} of {k} clusters, with {share:.0%} of the points, are found again in random "
        "halves of the points"
    )


def _reasons(evidence: Evidence) -> list[str]:
    mean_inside = np.average(evidence.inside, weights=evidence.sizes)
    reasons = [
        f"stability {evidence.stability.mean:.2f}: the mean overlap with clusters found in random "
        f"halves of the points; up to {evidence.stability.chance:.2f} for points without clusters",
        f"{mean_inside:.0%} of the affinity is inside clusters",
    ]
    if not np.isnan(evidence.distance):
        reasons.append(
            f"points are {evidence.distance:.2f} times as far from the subspace of their "
            "neighbours as points without clusters"
        )
    if evidence.separation is not None and len(evidence.sizes) > 1:
        reasons.append(str(evidence.separation))
    return reasons


def _steps(kind: Kind, evidence: Evidence) -> list[str]:
    steps = []
    if not evidence.converged:
        steps.append("the projection did not converge; see the warning for the parameter to change")
    if kind == "chance":
        return [
            *steps,
            "look at other features or scalings (affine=True if clusters differ by their distance "
            "from the origin)",
            "try fewer clusters: explore() compares several numbers",
        ]
    if kind == "single":
        return steps
    if not evidence.is_above_chance:
        steps.append("try other numbers of clusters: explore() compares several")
    return [*steps, *_about_pairs(evidence), *_about_clusters(evidence)]


def _about_pairs(evidence: Evidence) -> list[str]:
    """Return advice on clusters that touch, if one of them is not found again."""
    share = np.triu(evidence.touching)
    is_doubtful = ~(evidence.stability.clusters >= FOUND_AGAIN)
    share[~(is_doubtful[:, None] | is_doubtful)] = 0.0
    first, second = np.nonzero(share)
    order = np.argsort(-share[first, second], kind="stable")[:NAMED]
    return [
        f"clusters {p} and {q} touch through {evidence.n_joining[p, q]} and "
        f"{evidence.n_joining[q, p]} of their points: look at these, or try k = {len(share) - 1}"
        for p, q in zip(first[order], second[order], strict=True)
    ]


def _about_clusters(evidence: Evidence) -> list[str]:
    """Return advice on clusters that are not found again, and on small ones."""
    k, n = len(evidence.sizes), evidence.sizes.sum()
    doubtful = np.flatnonzero(~(evidence.stability.clusters >= FOUND_AGAIN))
    small = np.flatnonzero(evidence.sizes < SMALL_SHARE * n / k)
    steps = []
    if len(doubtful):
        verb = "is" if len(doubtful) == 1 else "are"
        steps.append(
            f"{_named(doubtful)} {verb} not found again reliably: do not rely on "
            f"{'it' if len(doubtful) == 1 else 'them'}, or compare other numbers of clusters by "
            "explore()"
        )
    if len(small):
        verb = "is" if len(small) == 1 else "are"
        steps.append(
            f"{_named(small)} {verb} small ({_sizes(evidence.sizes[small])}): perhaps outliers, "
            "which contamination=... leaves out"
        )
    return steps


def _sizes(sizes: Array) -> str:
    low, high = int(sizes.min()), int(sizes.max())
    return f"{low} points" if low == high else f"{low} to {high} points"


def _named(clusters: Array) -> str:
    names = ", ".join(map(str, clusters[:NAMED]))
    if len(clusters) > NAMED:
        names += f" and {len(clusters) - NAMED} more"
    return f"cluster{'s' if len(clusters) > 1 else ''} {names}"
