"""The samples of a report: their names, clusters, classes and images."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dssc._typing import Array
from dssc.report.packing import packed

# Most characters for all names, packed.
MAX_NAMES = 350_000


@dataclass(frozen=True)
class ReportSamples:
    """All samples, also those without a cluster.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Clusters; -1 for samples without one.
    confidence : ndarray of shape (n_samples,)
        Share of each sample's affinity inside its cluster.
    kept : ndarray
        The samples that have a cluster.
    names : list of str or None
        Their names.
    classes : ndarray of str of shape (n_samples,), or None
        Known classes.
    images : ndarray or None
        The samples as images.
    has_space_for_names : bool
        Whether the page has space for all names.
    """

    labels: Array
    confidence: Array
    kept: Array
    names: list[str] | None
    classes: Array | None
    images: Array | None
    has_space_for_names: bool

    @property
    def n_without_cluster(self) -> int:
        """Number of samples whose label is -1."""
        return len(self.labels) - len(self.kept)


def report_samples(
    model: Any,
    names: Sequence[str] | None,
    labels_true: ArrayLike | None,
    images: Array | None,
) -> ReportSamples:
    """Return the samples of a fitted model; lengths must agree."""
    labels = np.asarray(model.labels_)
    classes = None if labels_true is None else np.asarray(labels_true)
    for name, given in (("names", names), ("labels_true", classes), ("images", images)):
        if given is not None:
            check_length(name, len(given), len(labels))
    names = None if names is None else [str(name) for name in names]
    return ReportSamples(
        labels,
        np.asarray(model.confidence_, dtype=np.float64),
        np.flatnonzero(labels >= 0),
        names,
        None if classes is None else classes.astype(str),
        images,
        names is None or len(packed(names)) <= MAX_NAMES,
    )


def check_length(name: str, length: int, n_samples: int) -> None:
    """Refuse something that does not have one entry per sample."""
    if length != n_samples:
        raise ValueError(
            f"{name} has {length} entries, and the model was fitted to {n_samples} samples; give "
            "one per sample"
        )
