"""Parameters without labels: a graph that k-means reads alike each time, then the best clustering.

eta1 first. Where a graph has clear clusters, k-means finds the same ones from wherever it starts;
where it has not, every start ends elsewhere. So the eta1 is taken whose graphs let several starts
agree best, on clusters of high modularity: a stray point is found by all. Then the number of
neighbours, and which start: clusterings of all graphs with that eta1 are ranked by their modularity
in the mean of these graphs, and by their distance from subspaces of low dimension, and the smallest
sum of the two ranks wins.

Both are measures that compare clusterings from graphs of any density, which gaps in a spectrum or
the modularity in a graph of one's own do not. Another start of k-means changes accuracies as much
as other parameters do, so what comes out are not only parameters but labels too, by vote of the
best clusterings; a fit of the same points keeps them. `benchmarks/selection.py` is the study behind
this.
"""

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize
from sklearn.base import clone

from dssc.estimators.subspaces import squared_residual
from dssc.graph import count_components
from dssc.spectral.modularity import modularity

ETA1 = (1.0, 10.0, 0.1)  # for up to SAMPLE points; the first ones win where all are equal
FIRST_COUNTS = (6, 12)  # neighbours of a point in the graphs that eta1 is chosen by,
MORE_COUNTS = (8, 4)  # and further ones for the eta1 that won
STARTS = 8  # of k-means, to choose parameters by,
MORE_STARTS = 32  # and for the clusterings of all points,
VOTERS = 8  # of which the best ones vote
SAMPLE = 5000  # points the choice is made on, and at least so many a cluster:
PER_CLUSTER = 50
DIMENSION = 10  # of the subspaces that clusters are compared with,
COMPARED = 150  # on so many points a cluster
DIGITS = 6  # beyond them, rounding would decide


class Candidate(NamedTuple):
    """Parameters that were tried.

    Attributes
    ----------
    eta1 : float
        Ridge penalty, as it would be used for all points.
    n_neighbors : int or None
        Neighbours of a point; None where eta2 was given.
    stability : float
        Mean adjusted Rand index between the labels that several starts of k-means give.
    n_pieces : int
        Connected components of the affinity. More than clusters rule a candidate out, unless all
        have more.
    modularity : float or None
        Share of affinity inside the clusters of the best start, less what chance would put there,
        in the mean of all graphs with the same eta1; None where that eta1 was not chosen.
    residual : float or None
        Mean squared distance of the points from the best subspaces of dimension 10, one for each of
        these clusters.
    """

    eta1: float
    n_neighbors: int | None
    stability: float = 1.0
    n_pieces: int = 1
    modularity: float | None = None
    residual: float | None = None


class Choice(NamedTuple):
    """Candidates, the best first; the labels, of a sample or all; what expresses all."""

    candidates: list[Candidate]
    labels: np.ndarray | None = None
    expressed: Any = None

    def without_expression(self) -> "Choice":
        """Return what is worth keeping."""
        return self._replace(expressed=None)


def choose(model, X) -> Choice:
    """Try values for a model's open parameters.

    Open are `eta1` and, unless eta2 is "components", `n_neighbors`, where they are None. Beyond
    5,000 points (or 50 a cluster, if that is more) the choice is made on a random sample, always
    the same. There eta1, which competes with the eigenvalues of X'X, is smaller in proportion, and
    a number of neighbours like the logarithm of the number of points, as graphs need to hold
    together.
    """
    n, k = X.shape[0], model.n_clusters
    n_drawn = min(n, max(SAMPLE, PER_CLUSTER * k))
    if n_drawn < n:
        X = X[np.sort(np.random.default_rng(0).choice(n, n_drawn, replace=False))]
    first: tuple[int | None, ...] = (model.n_neighbors,)
    more: tuple[int | None, ...] = ()
    growth = 1.0
    if model.n_neighbors is None and model.eta2 is None:
        first, more, growth = FIRST_COUNTS, MORE_COUNTS, np.log(n) / np.log(n_drawn)
    eta1s = tuple(eta1 * n / n_drawn for eta1 in ETA1) if model.eta1 is None else (model.eta1,)
    best, *others = _by_standing(
        (Trials(model, X, eta1, n_drawn / n, growth) for eta1 in eta1s), first
    )
    best.add(more)
    if n_drawn == n:
        best.add_starts()
    candidates, labels = best.judged(k)
    candidates += [candidate for trials in others for candidate in trials.candidates]
    fits = n_drawn == n and best.model._device == getattr(model, "_device", None)
    return Choice(candidates, labels, best.model._kept[1] if fits else None)


def _by_standing(all_trials, counts) -> list["Trials"]:
    """Try some numbers of neighbours with every eta1, and return the trials, the best first."""
    found: list[Trials] = []
    for trials in all_trials:
        trials.add(counts)
        found = sorted([*found, trials], key=lambda some: some.standing, reverse=True)
        for loser in found[1:]:
            loser.forget()
    return found


class Trials:
    """The clusterings that one eta1 gives."""

    def __init__(self, model, X, eta1: float, share: float, growth: float):
        self.X, self.eta1, self.growth = X, eta1, growth
        self.model = clone(model).set_params(
            eta1=eta1 * share, warm_start=True, n_init=1, random_state=0, verbose=0, affine=False
        )
        self.candidates: list[Candidate] = []
        self.found: list[float] = []  # for each candidate, the modularity of its clusterings,
        self.labels: list[list[np.ndarray]] = []  # their labels,
        self.graphs: list[Any] = []
        self.embeddings: list[np.ndarray] = []  # and what they were read from

    def forget(self) -> None:
        """Free what only the best eta1 needs; a self-expression is as large as the data or more."""
        self.model._kept = None
        self.graphs, self.embeddings, self.labels = [], [], []

    @property
    def standing(self) -> tuple[bool, float]:
        """Whether a graph holds together; how well starts agree, times what they agree on."""
        holds = min(c.n_pieces for c in self.candidates) <= self.model.n_clusters
        clear = [c.stability * some for c, some in zip(self.candidates, self.found, strict=True)]
        return holds, round(float(np.mean(clear)), DIGITS)

    def add(self, counts) -> None:
        """Try numbers of neighbours."""
        for count in counts:
            self.model.set_params(n_neighbors=count or 1)
            labels = _clusterings(self.model, self.X)
            graph = self.model.affinity_matrix_
            n_pieces = count_components(graph)
            grown = count and round(count * self.growth)
            stability = mean_agreement(labels, self.model.n_clusters)
            self.candidates.append(Candidate(self.eta1, grown, stability, n_pieces))
            self.labels.append(labels)
            self.graphs.append(graph)
            self.found.append(float(np.mean([modularity(graph, some) for some in labels])))
            self.embeddings.append(self.model.embedding_)

    def add_starts(self) -> None:
        """Cluster every graph from more starts of k-means."""
        for labels, embedding in zip(self.labels, self.embeddings, strict=True):
            labels += _from_starts(self.model, embedding, range(len(labels), MORE_STARTS))

    def judged(self, n_clusters: int) -> tuple[list[Candidate], np.ndarray]:
        """Return the candidates, the best first, and the labels that the best ones agree on."""
        labels = [some for of_one in self.labels for some in of_one]
        owner = np.repeat(np.arange(len(self.labels)), [len(of_one) for of_one in self.labels])
        graph = sum(self.graphs[1:], self.graphs[0]) / len(self.graphs)
        modularities = [round(modularity(graph, some), DIGITS) for some in labels]
        distances = residuals(self.X, labels, n_clusters)
        torn = np.array([self.candidates[i].n_pieces > n_clusters for i in owner])
        order = ranked(modularities, distances, torn)
        found: dict[int, Candidate] = {}
        for i in order:  # the best start of each candidate comes first
            judged = self.candidates[owner[i]]._replace(
                modularity=modularities[i], residual=distances[i]
            )
            found.setdefault(owner[i], judged)
        voters = [labels[i] for i in order[:VOTERS] if torn[i] == torn[order[0]]]
        return list(found.values()), voted(voters, n_clusters)


def ranked(modularities, distances, torn) -> list[int]:
    """Return the order of clusterings by the sum of their ranks in modularity and distance.

    Those of a graph `torn` into too many pieces come last. Ties go to the higher modularity, then
    to the one that came first.
    """
    values = -np.asarray(modularities), np.asarray(distances)
    ranks = [np.searchsorted(np.sort(some), some) for some in values]
    return np.lexsort((values[0], ranks[0] + ranks[1], torn)).tolist()


def voted(labels, n_clusters: int) -> np.ndarray:
    """Return the cluster that most of several clusterings put each point in.

    Their clusters have no names in common, so each clustering is matched to the first one, as many
    points as possible staying in their cluster; and then to the outcome, for another vote. The
    first decides where votes are equal, and stands alone where a cluster would get no point.
    """
    outcome, points = labels[0], np.arange(len(labels[0]))
    for _ in range(2):
        votes = np.zeros((len(points), n_clusters))
        votes[points, outcome] = 0.5
        for some in labels:
            cells = _common_points(some, outcome, n_clusters)
            names = optimize.linear_sum_assignment(cells, maximize=True)[1]
            votes[points, names[some]] += 1.0
        outcome = votes.argmax(axis=1)
    full = np.count_nonzero(np.bincount(outcome)) == n_clusters
    return outcome.astype(labels[0].dtype) if full else labels[0]


def mean_agreement(labels, n_clusters: int) -> float:
    """Return the mean adjusted Rand index between labellings; one, if there is only one."""
    n = len(labels)
    if n == 1:
        return 1.0
    total = pairwise_agreements(labels, n_clusters).sum()
    return round(float(total) / (n * (n - 1)), DIGITS)


def pairwise_agreements(labels, n_clusters: int) -> np.ndarray:
    """Return the adjusted Rand index of every two labellings, and zero on the diagonal."""
    n = len(labels)
    pairs = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            pairs[i, j] = pairs[j, i] = _adjusted_rand(labels[i], labels[j], n_clusters)
    return pairs


def residuals(X, labels, n_clusters: int) -> list[float]:
    """Return the mean squared distance of points from subspaces, for every labelling of them."""
    n_compared = min(len(labels[0]), COMPARED * n_clusters)
    compared = np.random.default_rng(0).permutation(len(labels[0]))[:n_compared]
    X = X[compared]
    found: dict[bytes, float] = {}  # by members: starts of k-means have many clusters in common

    def residual_of(members):
        key = members.tobytes()
        if key not in found:
            found[key] = squared_residual(X[members], DIMENSION)
        return found[key]

    totals = []
    for some in labels:
        order = np.argsort(some[compared], kind="stable")
        ends = np.cumsum(np.bincount(some[compared], minlength=n_clusters))[:-1]
        totals.append(sum(residual_of(members) for members in np.split(order, ends)))
    return [round(total / n_compared, DIGITS) for total in totals]


def _adjusted_rand(one, two, n_clusters):
    """Return the adjusted Rand index, from counts: scikit-learn's checks cost more than that."""
    cells = _common_points(one, two, n_clusters)
    both, rows, columns = (_pairs(c) for c in (cells, cells.sum(axis=1), cells.sum(axis=0)))
    expected = rows * columns / _pairs(np.array([cells.sum()]))
    most = (rows + columns) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def _common_points(one, two, n_clusters):
    """Return how many points each cluster of one labelling shares with each of another."""
    cells = np.bincount(one.astype(np.int64) * n_clusters + two, minlength=n_clusters**2)
    return cells.reshape(n_clusters, n_clusters).astype(np.float64)


def _pairs(counts):
    return float((counts * (counts - 1)).sum() / 2)


def _clusterings(trial, X):
    """Return the labels that several starts of k-means give."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters is said of the fit that follows
        labels = [trial.fit(X).labels_]
    return labels + _from_starts(trial, trial.embedding_, range(1, STARTS))


def _from_starts(trial, embedding, seeds):
    """Return the labels that further starts of k-means give, if it is k-means that labels."""
    if trial.assign_labels != "kmeans":
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [trial._labels_from(seed, embedding) for seed in seeds]
