"""Samples as they were read: values, origins, and labels from the same source."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse

from dssc._typing import Array, Matrix
from dssc.cli.exits import CommandError

# Samples that an error names; of further ones it gives the number.
SAMPLES_NAMED = 8
# Samples that are checked together: they may be a memory map larger than memory.
BATCH = 2048


@dataclass
class Samples:
    """The samples of a file or folder.

    Parameters
    ----------
    source : str
        The file or folder.
    values : ndarray or csr_array of shape (n, d), or ndarray of shape (n, height, width[, 3])
        Features, or images.
    labels : ndarray of shape (n,) or None
        Classes, if they were asked for and are in the source.
    names : sequence of str or None
        Names of the samples: their files, if each has its own, or their ids.
    name_column : str or None
        What the names are, as the heading of a column; "file" by default.
    lines : sequence of int or None
        Lines of the samples in a text file.
    columns : sequence of str or None
        Names of the features, if they have names.
    files : sequence of str or None
        Files of the samples, if they come from several tables.
    numbers : sequence of int or None
        The number of each sample in its file from 0, if some were passed over.
    skipped : dict of int to dict
        The samples that were passed over, which are no rows of `values`: what identifies each, by
        the row it would have if none were passed over.
    warnings : sequence of str
        What the user should know about the data.
    weights : ndarray of shape (n,) or None
        How often each sample counts, if that was given.
    """

    source: str
    values: Matrix
    labels: Array | None = None
    names: Sequence[str] | None = None
    name_column: str | None = None
    lines: Sequence[int] | None = None
    columns: Sequence[str] | None = None
    files: Sequence[str] | None = None
    numbers: Sequence[int] | None = None
    skipped: Mapping[int, Mapping[str, str | int]] = field(default_factory=dict)
    warnings: Sequence[str] = field(default_factory=list)
    weights: Array | None = None

    @property
    def are_images(self) -> bool:
        """Whether the samples are images."""
        return self.values.ndim > 2

    @property
    def indices(self) -> list[int]:
        """The number of each sample in its file, from 0."""
        if self.numbers is not None:
            return list(self.numbers)
        if self.files is None:
            return list(range(self.values.shape[0]))
        counts: Counter[str] = Counter()
        indices = []
        for file in self.files:
            indices.append(counts[file])
            counts[file] += 1
        return indices

    def origins(self, rows: Sequence[int]) -> str:
        """Return where samples are in the source, as text."""
        shown = rows[:SAMPLES_NAMED]
        marks: Sequence[str | int]
        if self.names is not None:
            kind, marks = "", self.names
        elif self.lines is not None:
            kind, marks = "lines ", self.lines
        else:
            kind, marks = "rows (from 0) ", self.indices
        if self.files is not None:
            marks = [f"{file} {mark}" for file, mark in zip(self.files, marks, strict=True)]
        more = f" and {len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
        return kind + ", ".join(str(marks[row]) for row in shown) + more

    def identification(self) -> dict[str, list[str] | list[int]]:
        """Return the columns that say which sample a row of the output is about."""
        columns: dict[str, list[str] | list[int]] = {}
        if self.files is not None:
            columns["file"] = list(self.files)
        if self.names is not None:
            columns[self.name_column or "file"] = list(self.names)
        else:
            columns["index"] = self.indices
        return columns

    def check(self, skip_bad: bool = False) -> "Samples":
        """Raise an error that names the samples which no method can use, if there are any.

        With `skip_bad`, return the other samples with a warning instead.
        """
        self._check_size()
        n = self.values.shape[0]
        batches = (self.values[start : start + BATCH] for start in range(0, n, BATCH))
        largest = np.concatenate([_largest(batch) for batch in batches])
        problems = [
            (~np.isfinite(largest), "NaN or infinite values", "fill or remove them"),
            (largest == 0, "only zeros, which have no direction", "remove them"),
        ]
        warnings = []
        for is_bad, what, remedy in problems:
            rows = np.flatnonzero(is_bad).tolist()
            if rows:
                place = self.origins(rows)
                message = f"{self.source}: {len(rows)} of {n} samples hold {what}: {place}"
                if not skip_bad:
                    raise CommandError(f"{message}; {remedy}, or add --skip-bad")
                warnings.append(f"passed over: {message}")
        if not warnings:
            return self
        usable = self._without(~np.isfinite(largest) | (largest == 0))
        usable.warnings = [*self.warnings, *warnings]
        usable._check_size()
        return usable

    def _check_size(self) -> None:
        n = self.values.shape[0]
        if n < 2 or 0 in self.values.shape:
            rest = f" besides {len(self.skipped)} that cannot be used" if self.skipped else ""
            raise CommandError(
                f"{self.source} holds {n} samples{rest}; clustering needs at least 2"
            )

    def _without(self, is_bad: Array) -> "Samples":
        """Return the samples that are not bad; the others are `skipped`."""
        good = np.flatnonzero(~is_bad)
        identities = self.identification()
        places = np.setdiff1d(np.arange(len(is_bad) + len(self.skipped)), list(self.skipped))
        skipped = {
            int(places[row]): {name: column[row] for name, column in identities.items()}
            for row in np.flatnonzero(is_bad).tolist()
        }

        def kept(values: Sequence[Any] | None) -> list[Any] | None:
            return None if values is None else [values[int(row)] for row in good]

        return replace(
            self,
            values=self.values[good],
            labels=None if self.labels is None else self.labels[good],
            weights=None if self.weights is None else self.weights[good],
            names=kept(self.names),
            lines=kept(self.lines),
            files=kept(self.files),
            numbers=kept(self.indices),
            skipped={**self.skipped, **skipped},
        )


def _largest(values: Matrix) -> Array:
    """Return the largest magnitude of each sample, NaN if it holds one."""
    if sparse.issparse(values):
        return abs(values).max(axis=1).toarray().ravel()
    return abs(values.reshape(len(values), -1).astype(np.float64)).max(axis=1)
