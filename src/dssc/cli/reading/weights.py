"""Weights of samples, from a column of their table or from a file of their own."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from dssc._typing import Array
from dssc._validation import check_sample_weight
from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import missing
from dssc.cli.reading.labels import labels_of_file
from dssc.cli.reading.samples import Samples


def take_weights(name: str, samples: Samples) -> Samples:
    """Return samples with the weights in a column, which is no feature then, or in a file."""
    columns = list(samples.columns or ())
    if name in columns:
        index = columns.index(name)
        weights = np.asarray(samples.values[:, index], dtype=np.float64)
        return replace(
            samples,
            values=np.delete(samples.values, index, axis=1),
            columns=columns[:index] + columns[index + 1 :],
            weights=_checked(name, weights, samples),
        )
    if not Path(name).is_file():
        complaint = missing(Path(samples.source), name, columns)
        raise CommandError(f"--weights {name}: {complaint}; and there is no such file")
    texts = labels_of_file("--weights", name, samples)
    try:
        return replace(samples, weights=_checked(name, texts.astype(np.float64), samples))
    except ValueError as error:
        raise CommandError(f"--weights {name}: {error}; give one number per sample") from error


def _checked(name: str, weights: Array, samples: Samples) -> Array:
    try:
        return check_sample_weight(weights, samples.values.shape[0])
    except ValueError as error:
        raise CommandError(f"--weights {name}: {error}") from error
