"""The content of a report, computed from a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import get_tags

from dssc._typing import Array, Matrix
from dssc.diagnostics import central_and_doubtful, certainty, plane_layout, sample_points
from dssc.graph import as_graph, component_sizes, share_inside
from dssc.metrics import nonzeros_per_point
from dssc.report.affinity_picture import AffinityPicture, draw_affinity
from dssc.report.class_scores import class_scores
from dssc.report.confusion import Confusion, confusion_matrix
from dssc.report.thumbnails import ThumbnailSheet, make_sheet
from dssc.spectral.eigenvalues import leading_eigenvalues
from dssc.verdict import Verdict

# Most points of the scatter plot, about.
MAX_POINTS = 2000
# Central members, and doubtful ones, shown per cluster.
MEMBERS_SHOWN = 8
# Parameters that change no result and are not reported.
HIDDEN_PARAMETERS = ("verbose", "warm_start")
# Eigenvalues shown after the first n_clusters: as many again, but at least and at most these.
FEWEST_FURTHER, MOST_FURTHER = 6, 30


@dataclass
class Content:
    """Everything the page shows; computed by `gather`."""

    title: str
    method: str
    n_samples: int
    n_features: int | None
    n_clusters: int
    preparation: Sequence[str]
    parameters: dict[str, Any]
    notes: Sequence[str]
    explanation: str
    seconds: dict[str, float]
    certificate: Any
    eta1: float | None
    eta2: float | None
    sizes: Array
    inside: Array
    component_sizes: Array
    nonzeros: float
    eigenvalues: Array
    picture: AffinityPicture
    points: Array
    positions: Array
    layout: str
    labels: Array
    share: Array
    central: list[Array]
    doubtful: list[Array]
    names: Sequence[str] | None
    sheet: ThumbnailSheet | None
    classes: Array | None
    scores: dict[str, float] | None
    confusion: Confusion | None
    verdict: Verdict | None


def certificate_of(model: Any) -> Any:
    """Return the certified result of a model: of its affinity, else of its self-expression."""
    expression = getattr(model, "expression_", None)
    is_certified = expression is not None and expression.violations is not None
    return getattr(model, "projection_", None) or (expression if is_certified else None)


def gather(
    model: Any,
    title: str,
    images: Array | None,
    names: Sequence[str] | None,
    labels_true: ArrayLike | None,
    preparation: Sequence[str],
    notes: Sequence[str],
    seed: int,
    verdict: Verdict | None = None,
) -> Content:
    """Compute the content of a report; see `dssc.report.html_report` for the parameters."""
    scores = None if labels_true is None else class_scores(model, labels_true)
    samples = _with_cluster(model, images, names, labels_true)
    labels, affinity, embedding, images, names, true = samples
    n_without, k = len(model.labels_) - len(labels), int(model.n_clusters_)
    if n_without:
        notes = [*notes, f"{n_without:,} samples have no cluster (label -1) and are not shown"]
    graph = as_graph(affinity)
    closeness, margin = certainty(embedding, labels, k)
    central, doubtful = central_and_doubtful(closeness, margin, labels, k, MEMBERS_SHOWN)
    points = sample_points(labels, k, MAX_POINTS, np.random.default_rng(seed))
    positions, method = plane_layout(embedding[points], k, seed)
    share = share_inside(graph, labels)
    shown = np.concatenate([points, *central, *doubtful])
    sizes = np.bincount(labels, minlength=k)
    further = min(max(FEWEST_FURTHER, k), MOST_FURTHER)
    # The eigenvectors of the model are those of the graph of distinct points, outliers included.
    is_whole = not n_without and len(getattr(model, "distinct_rows_", labels)) == len(labels)
    known = embedding if is_whole else np.empty((len(labels), 0))
    extra = max(1, k + further - known.shape[1])
    return Content(
        title=title,
        method=type(model).__name__,
        n_samples=len(labels),
        n_features=None if get_tags(model).input_tags.pairwise else int(model.n_features_in_),
        n_clusters=k,
        preparation=preparation,
        parameters={n: v for n, v in model.get_params().items() if n not in HIDDEN_PARAMETERS},
        notes=notes,
        explanation=getattr(model, "explanation_", ""),
        seconds=model.timings_,
        certificate=certificate_of(model),
        eta1=getattr(model, "eta1_", None),
        eta2=getattr(model, "eta2_", None),
        sizes=sizes,
        inside=np.bincount(labels, share, minlength=k) / np.maximum(sizes, 1),
        component_sizes=component_sizes(graph),
        nonzeros=nonzeros_per_point(affinity),
        eigenvalues=leading_eigenvalues(graph, extra, known, seed),
        picture=draw_affinity(graph, labels, k),
        points=points,
        positions=positions,
        layout=method,
        labels=labels,
        share=share,
        central=central,
        doubtful=doubtful,
        names=names,
        sheet=None if images is None else make_sheet(images, shown),
        classes=None if true is None else true.astype(str),
        scores=scores,
        confusion=None if true is None else confusion_matrix(true, labels, k),
        verdict=verdict,
    )


class _Samples(NamedTuple):
    """Samples that have a cluster."""

    labels: Array
    affinity: Matrix
    embedding: Array
    images: Array | None
    names: Sequence[str] | None
    true: Array | None


def _with_cluster(
    model: Any, images: Array | None, names: Sequence[str] | None, labels_true: ArrayLike | None
) -> _Samples:
    """Return the samples without those whose label is -1."""
    true = None if labels_true is None else np.asarray(labels_true)
    labels, A, U = np.asarray(model.labels_), model.affinity_matrix_, model.embedding_
    kept = np.flatnonzero(labels >= 0)
    if len(kept) == len(labels):
        return _Samples(labels, A, U, images, names, true)
    return _Samples(
        labels[kept],
        A[kept][:, kept],
        U[kept],
        None if images is None else images[kept],
        [str(i) if names is None else names[i] for i in kept.tolist()],
        None if true is None else true[kept],
    )
