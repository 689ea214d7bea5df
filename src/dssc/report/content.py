"""All that a report says, gathered from a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from dssc.graph import as_graph, count_components, leading_eigenvalues, share_inside
from dssc.members import certainty, extremes, layout, sample
from dssc.metrics import nonzeros_per_point
from dssc.report.picture import AffinityPicture, draw_affinity
from dssc.report.scores import scores
from dssc.report.thumbnails import Sheet, make_sheet

MOST_POINTS = 2000
MEMBERS_SHOWN = 8
SILENT = ("verbose", "warm_start")  # parameters that change no result
FEWEST_BEYOND, MOST_BEYOND = 6, 30  # eigenvalues after the clusters' own, of which about as many


@dataclass
class Confusion:
    """Classes against clusters, ordered so that the best matching lies on the diagonal."""

    classes: list[str]
    clusters: list[int]
    counts: np.ndarray


@dataclass
class Content:
    """What the page shows; see `gather`."""

    title: str
    method: str
    n_samples: int
    n_features: int
    n_clusters: int
    preparation: Sequence[str]
    parameters: dict[str, Any]
    notes: Sequence[str]
    seconds: dict[str, float]
    certificate: Any
    eta1: float | None
    eta2: float | None
    sizes: np.ndarray
    inside: np.ndarray
    n_components: int
    nonzeros: float
    eigenvalues: np.ndarray
    picture: AffinityPicture
    points: np.ndarray
    places: np.ndarray
    layout: str
    labels: np.ndarray
    margin: np.ndarray
    share: np.ndarray
    central: list[np.ndarray]
    doubtful: list[np.ndarray]
    names: Sequence[str] | None
    sheet: Sheet | None
    classes: np.ndarray | None
    scores: dict[str, float] | None
    confusion: Confusion | None


def certificate_of(model):
    """Return the result that proves a model's affinity or, without one, its self-expression."""
    return getattr(model, "projection_", None) or getattr(model, "expression_", None)


def gather(model, title, images, names, labels_true, preparation, notes, seed) -> Content:
    """Compute what a report shows."""
    labels, k = np.asarray(model.labels_), int(model.n_clusters_)
    n = len(labels)
    graph = as_graph(model.affinity_matrix_)
    own, margin = certainty(model.embedding_, labels, k)
    central, doubtful = extremes(own, margin, labels, k, MEMBERS_SHOWN)
    points = sample(labels, k, MOST_POINTS, np.random.default_rng(seed))
    places, method = layout(model.embedding_[points], k, seed)
    share = share_inside(graph, labels)
    shown = np.concatenate([points, *central, *doubtful])
    sizes = np.bincount(labels, minlength=k)
    beyond = max(1, k + min(max(FEWEST_BEYOND, k), MOST_BEYOND) - model.embedding_.shape[1])
    return Content(
        title=title,
        method=type(model).__name__,
        n_samples=n,
        n_features=int(model.n_features_in_),
        n_clusters=k,
        preparation=preparation,
        parameters={n: v for n, v in model.get_params().items() if n not in SILENT},
        notes=notes,
        seconds=model.timings_,
        certificate=certificate_of(model),
        eta1=getattr(model, "eta1_", None),
        eta2=getattr(model, "eta2_", None),
        sizes=sizes,
        inside=np.bincount(labels, share, minlength=k) / np.maximum(sizes, 1),
        n_components=count_components(graph),
        nonzeros=nonzeros_per_point(model.affinity_matrix_),
        eigenvalues=leading_eigenvalues(graph, beyond, model.embedding_, seed),
        picture=draw_affinity(graph, labels, k),
        points=points,
        places=places,
        layout=method,
        labels=labels,
        margin=margin,
        share=share,
        central=central,
        doubtful=doubtful,
        names=names,
        sheet=None if images is None else make_sheet(images, shown),
        classes=None if labels_true is None else np.asarray(labels_true).astype(str),
        scores=None if labels_true is None else scores(model, labels_true),
        confusion=None if labels_true is None else _confusion(labels_true, labels, k),
    )


def _confusion(labels_true, labels, n_clusters):
    classes = np.unique(labels_true)
    found = np.unique(labels)
    counts = np.zeros((len(classes), n_clusters), dtype=np.int64)
    counts[:, found] = contingency_matrix(labels_true, labels)
    rows, columns = linear_sum_assignment(counts, maximize=True)
    order = np.argsort(rows)
    rest = np.setdiff1d(np.arange(n_clusters), columns)
    clusters = [*columns[order].tolist(), *rest.tolist()]
    matched = [*rows[order], *np.setdiff1d(np.arange(len(classes)), rows)]
    names = [str(classes[row]) for row in matched]
    return Confusion(names, clusters, counts[np.ix_(matched, clusters)])
