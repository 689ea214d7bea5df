"""The table of labels: a row per sample, also for those that were passed over."""

from pathlib import Path
from typing import Any

import numpy as np

from dssc._typing import Array
from dssc.cli.reading.samples import Samples
from dssc.cli.writing import matrix_as_bytes, table_as_bytes

# The label of a sample that was passed over.
NO_CLUSTER = -1
# Digits of a confidence.
DIGITS = 4


def labels_as_bytes(model: Any, samples: Samples, path: Path) -> bytes:
    """Return the labels of a fitted model in the format given by the ending of `path`.

    A table has a column of confidences if the model has them.
    """
    if path.suffix.lower() == ".npy":
        return matrix_as_bytes(_all_labels(model.labels_, samples), path)
    columns: dict[str, list[Any]] = {
        name: list(values) for name, values in samples.identification().items()
    }
    columns["cluster"] = model.labels_.tolist()
    confidence = getattr(model, "confidence_", None)
    if confidence is not None:
        columns["confidence"] = [_number(value) for value in confidence]
    for row, identity in sorted(samples.skipped.items()):
        for name, column in columns.items():
            column.insert(row, NO_CLUSTER if name == "cluster" else identity.get(name, ""))
    return table_as_bytes(columns)


def _all_labels(labels: Array, samples: Samples) -> Array:
    """Return the labels of all samples, with those that were passed over."""
    n = len(labels) + len(samples.skipped)
    used = np.setdiff1d(np.arange(n), list(samples.skipped))
    complete = np.full(n, NO_CLUSTER, dtype=labels.dtype)
    complete[used] = labels
    return complete


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.{DIGITS}f}"
