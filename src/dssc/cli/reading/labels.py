"""Known classes, from a file of their own."""

from pathlib import Path

import numpy as np

from dssc.cli.exits import CommandError
from dssc.cli.reading.arrays import choose, is_vector, load_arrays
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.tables import is_number, split_rows

ENDINGS = (".npy", ".npz", ".mat", ".csv", ".tsv", ".txt")


def read_labels(name: str, samples: Samples) -> np.ndarray:
    """Return the classes of samples: those found beside them, or those in the file `name`."""
    if samples.labels is not None:
        return _fitting(samples.labels, samples, name)
    path = Path(name)
    if not path.is_file():
        raise CommandError(
            f"--labels {name}: {samples.source} has no column or array of that name, "
            "and there is no such file"
        )
    if path.suffix.lower() not in ENDINGS:
        raise CommandError(f"--labels {name}: must end in {', '.join(ENDINGS)}")
    if path.suffix.lower() in (".npy", ".npz", ".mat"):
        arrays = load_arrays(path)
        found = np.ravel(arrays[choose(path, arrays, None, is_vector, "vector of labels")])
    else:
        found = _last_column(path)
    return _fitting(found, samples, name)


def _last_column(path):
    """Read the last cell of each line; the first line may be a heading."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            cells = [row[-1].strip() for _, row in split_rows(file)]
    except UnicodeDecodeError as error:
        raise CommandError(f"{path} is not text in UTF-8: {error}") from error
    if len(cells) > 1 and all(map(is_number, cells[1:])) and not is_number(cells[0]):
        cells = cells[1:]
    return np.array(cells)


def _fitting(labels, samples, name):
    n = samples.values.shape[0]
    if len(labels) == n + 1 and labels.dtype.kind == "U":
        labels = labels[1:]  # a heading above classes that are words
    if len(labels) != n:
        raise CommandError(
            f"--labels {name}: {len(labels)} labels for the {n} samples of {samples.source}"
        )
    return labels
