"""The report of a clustering that the command made."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from dssc.cli.fitting import Clustering
from dssc.cli.reading.samples import Samples
from dssc.exploring import Exploration
from dssc.report import html_report

# Numbers of clusters that are compared with a small one.
SMALL_COUNTS = range(2, 16)
# How many numbers around a larger one are compared, and the most samples for which they are: with
# many clusters and samples this would take longer than the clustering.
COUNTS_AROUND, MOST_SAMPLES = 8, 5000


def report_page(clustering: Clustering, command: str) -> str:
    """Return the report of a clustering as HTML.

    Parameters
    ----------
    clustering : Clustering
        A fitted model with its data.
    command : str
        The command line that makes the report again.
    """
    samples, images = clustering.samples, clustering.prepared.images
    is_table = images is None and not _is_square_of_samples(clustering)
    return html_report(
        clustering.model,
        title=Path(samples.source).name,
        images=images,
        X=samples.values if is_table else None,
        feature_names=samples.columns if is_table else None,
        names=sample_names(samples),
        labels_true=clustering.classes,
        preparation=clustering.prepared.steps,
        notes=clustering.warnings,
        verdict=clustering.verdict,
        exploration=explored(clustering.model),
        command=command,
    )


def sample_names(samples: Samples) -> list[str] | None:
    """Return what identifies each sample, or None if that is its place in the data."""
    if samples.names is None and samples.files is None and samples.numbers is None:
        return None
    columns = samples.identification().values()
    return [" ".join(map(str, cells)) for cells in zip(*columns, strict=True)]


def explored(model: Any) -> Exploration | None:
    """Return clusterings into other numbers of clusters, where they cost little."""
    k, n = int(model.n_clusters_), int(np.sum(model.labels_ >= 0))
    if k <= SMALL_COUNTS[-1]:
        counts = list(SMALL_COUNTS)
    elif n <= MOST_SAMPLES:
        around = np.linspace(k / 2, 3 * k / 2, COUNTS_AROUND).astype(int).tolist()
        counts = sorted({*around, k})
    else:
        return None
    n_points = min(n, len(getattr(model, "distinct_rows_", model.labels_)))
    counts = [count for count in counts if count < n_points]
    if not counts:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # those of the fit are shown
        return model.explore(counts)


def _is_square_of_samples(clustering: Clustering) -> bool:
    """Return whether the data are similarities, whose columns are samples and not features."""
    return clustering.model.__sklearn_tags__().input_tags.pairwise
