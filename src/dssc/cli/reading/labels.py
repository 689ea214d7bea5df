"""Known classes, from the source of the samples or from a file of their own."""

from pathlib import Path

import numpy as np

from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.reading.formats import FORMATS, import_reader, reader_of
from dssc.cli.reading.reader import LabelReader
from dssc.cli.reading.samples import Samples


def read_labels(name: str, samples: Samples) -> Array:
    """Return the classes of samples: those read with them, or those in the file `name`."""
    if samples.labels is not None:
        return _check_number(samples.labels, samples, name)
    if not Path(name).is_file():
        raise CommandError(
            f"--labels {name}: {samples.source} has no labels of that name, and there is no such "
            "file"
        )
    return labels_of_file("--labels", name, samples)


def labels_of_file(option: str, name: str, samples: Samples) -> Array:
    """Return one value per sample from the file `name`."""
    path = Path(name)
    reader = reader_of(path)
    if not isinstance(reader, LabelReader):
        endings = [
            ending
            for ending, reader_name in FORMATS.items()
            if isinstance(import_reader(reader_name), LabelReader)
        ]
        raise CommandError(f"{option} {name}: must end in {', '.join(endings)}")
    return _check_number(reader.read_labels(path), samples, name, option)


def _check_number(labels: Array, samples: Samples, name: str, option: str = "--labels") -> Array:
    n = samples.values.shape[0]
    if len(labels) == n + 1 and labels.dtype.kind == "U":
        labels = labels[1:]  # the first one is the name of the column
    if samples.skipped and len(labels) == n + len(samples.skipped):
        labels = np.delete(labels, list(samples.skipped))
    if len(labels) != n:
        raise CommandError(
            f"{option} {name}: {len(labels)} labels for the {n} samples of {samples.source}"
        )
    return labels
