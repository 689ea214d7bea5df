"""The content of a report, computed from a fitted model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import get_tags

from dssc._typing import Array
from dssc.confusion import Confusion, confusion_matrix
from dssc.diagnostics import central_and_doubtful, certainty, plane_layout, sample_points
from dssc.exploring import Exploration
from dssc.graph import as_graph, component_sizes
from dssc.metrics import nonzeros_per_point
from dssc.report.affinity_picture import AffinityPicture, draw_affinity
from dssc.report.class_scores import class_scores
from dssc.report.cluster_facts import ClusterFacts, cluster_facts
from dssc.report.distinctive import DistinctiveFeature, distinctive_features
from dssc.report.samples import ReportSamples, check_length, report_samples
from dssc.separation import Separation
from dssc.spectral.eigenvalues import leading_eigenvalues
from dssc.verdict import Verdict

# Most points of the scatter plot, about.
MAX_POINTS = 2000
# Typical members, and doubtful ones, shown per cluster.
MEMBERS_SHOWN = 8
# Eigenvalues shown after the first n_clusters: as many again, but at least and at most these.
FEWEST_FURTHER, MOST_FURTHER = 6, 30


@dataclass(frozen=True)
class Layout:
    """Points of the embedding in the plane: which samples, where, and by which method."""

    samples: Array
    positions: Array
    method: str


@dataclass(frozen=True)
class Content:
    """Everything the page shows; computed by `gather`. Members are numbers of samples."""

    title: str
    model: Any
    n_features: int | None
    n_clusters: int
    preparation: Sequence[str]
    notes: Sequence[str]
    command: str | None
    verdict: Verdict | None
    exploration: Exploration | None
    samples: ReportSamples
    clusters: ClusterFacts
    central: list[Array]
    doubtful: list[Array]
    component_sizes: Array
    nonzeros: float
    eigenvalues: Array
    picture: AffinityPicture
    layout: Layout
    scores: dict[str, float] | None
    confusion: Confusion | None

    @property
    def method(self) -> str:
        """Name of the estimator."""
        return type(self.model).__name__

    @property
    def certificate(self) -> Any:
        """The certified result of the model, or None."""
        return certificate_of(self.model)


def certificate_of(model: Any) -> Any:
    """Return the certified result of a model: of its affinity, else of its self-expression."""
    expression = getattr(model, "expression_", None)
    is_certified = expression is not None and expression.violations is not None
    return getattr(model, "projection_", None) or (expression if is_certified else None)


def gather(
    model: Any,
    title: str,
    images: Array | None,
    X: Any,
    feature_names: Sequence[str] | None,
    names: Sequence[str] | None,
    labels_true: ArrayLike | None,
    preparation: Sequence[str],
    notes: Sequence[str],
    seed: int,
    verdict: Verdict | None,
    separation: Separation | None,
    exploration: Exploration | None,
    command: str | None,
) -> Content:
    """Compute the content of a report; see `dssc.report.html_report` for the parameters."""
    samples = report_samples(model, names, labels_true, images)
    kept, k = samples.kept, int(model.n_clusters_)
    labels, embedding = samples.labels[kept], model.embedding_[kept]
    A = model.affinity_matrix_
    graph = as_graph(A if len(kept) == len(samples.labels) else A[kept][:, kept])
    confusion = (
        None if samples.classes is None else confusion_matrix(samples.classes[kept], labels, k)
    )
    features = None if X is None else _features(model, X, feature_names, samples)
    if separation is None and verdict is not None:
        separation = verdict.evidence.separation
    closeness, margin = certainty(embedding, labels, k)
    central, doubtful = central_and_doubtful(closeness, margin, labels, k, MEMBERS_SHOWN)
    points = sample_points(labels, k, MAX_POINTS, np.random.default_rng(seed))
    positions, method = plane_layout(embedding[points], k, seed)
    picture = draw_affinity(graph, labels, k)
    return Content(
        title=title,
        model=model,
        n_features=None if get_tags(model).input_tags.pairwise else int(model.n_features_in_),
        n_clusters=k,
        preparation=preparation,
        notes=[*notes, *_further_notes(model, samples, notes)],
        command=command,
        verdict=verdict,
        exploration=exploration,
        samples=samples,
        clusters=cluster_facts(model, graph, samples, verdict, separation, features, confusion),
        central=[kept[members] for members in central],
        doubtful=[kept[members] for members in doubtful],
        component_sizes=component_sizes(graph),
        nonzeros=nonzeros_per_point(graph),
        eigenvalues=_eigenvalues(model, graph, samples, seed),
        picture=picture,
        layout=Layout(kept[points], positions, method),
        scores=None if labels_true is None else class_scores(model, labels_true),
        confusion=confusion,
    )


def _features(
    model: Any, X: Any, feature_names: Sequence[str] | None, samples: ReportSamples
) -> list[list[DistinctiveFeature]]:
    """Return the features that set each cluster apart."""
    check_length("X", X.shape[0] if hasattr(X, "shape") else len(X), len(samples.labels))
    if feature_names is None:
        feature_names = getattr(X, "columns", None)  # of a data frame
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    names = (
        [f"feature {number}" for number in range(X.shape[1])]
        if feature_names is None
        else [str(name) for name in feature_names]
    )
    if len(names) != X.shape[1]:
        raise ValueError(
            f"feature_names has {len(names)} entries, and X has {X.shape[1]} columns; give one per "
            "column"
        )
    kept = samples.kept
    return distinctive_features(X[kept], names, samples.labels[kept], int(model.n_clusters_))


def _further_notes(model: Any, samples: ReportSamples, notes: Sequence[str]) -> list[str]:
    """Return what a reader must know besides the notes that were given."""
    found = []
    if samples.n_without_cluster:
        found.append(
            f"{samples.n_without_cluster:,} samples have no cluster (label -1). They are in the "
            "table of labels only"
        )
    if not samples.has_space_for_names:
        found.append(
            "The names take too much space for this page, so only those of the members shown are "
            "in it, and its table of labels has numbers instead"
        )
    result = certificate_of(model)
    if result is not None and not result.converged and result.status not in " ".join(notes):
        found.append(f"The solver did not reach its tolerance: {result.status}")
    return found


def _eigenvalues(model: Any, graph: sparse.csr_array, samples: ReportSamples, seed: int) -> Array:
    """Return the leading eigenvalues, from the eigenvectors of the model where they are known."""
    k, n = int(model.n_clusters_), len(samples.labels)
    # The eigenvectors of the model are those of the graph of distinct points, outliers included.
    is_whole = len(samples.kept) == n and len(getattr(model, "distinct_rows_", range(n))) == n
    known = model.embedding_ if is_whole else np.empty((graph.shape[0], 0))
    n_further = min(max(FEWEST_FURTHER, k), MOST_FURTHER)
    return leading_eigenvalues(graph, max(1, k + n_further - known.shape[1]), known, seed)
