"""Samples as they were read: values, origins, and labels from the same source."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

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
        Files of the samples, if each has its own.
    lines : sequence of int or None
        Lines of the samples in a text file.
    """

    source: str
    values: Matrix
    labels: Array | None = None
    names: Sequence[str] | None = None
    lines: Sequence[int] | None = None

    @property
    def are_images(self) -> bool:
        """Whether the samples are images."""
        return self.values.ndim > 2

    def origins(self, rows: Sequence[int]) -> str:
        """Return where samples are in the source, as text."""
        shown = rows[:SAMPLES_NAMED]
        if self.names is not None:
            kind, origins = "", [self.names[row] for row in shown]
        elif self.lines is not None:
            kind, origins = "lines ", [str(self.lines[row]) for row in shown]
        else:
            kind, origins = "rows (from 0) ", [str(row) for row in shown]
        more = f" and {len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
        return kind + ", ".join(origins) + more

    def check(self) -> Self:
        """Raise an error that names the samples which no method can use, if there are any."""
        n = self.values.shape[0]
        if n < 2 or 0 in self.values.shape:
            raise CommandError(f"{self.source} holds {n} samples; clustering needs at least 2")
        largest = np.concatenate([_largest(self.values[b]) for b in gen_batches(n, BATCH)])
        self._refuse(~np.isfinite(largest), "NaN or infinite values", "fill or remove them")
        self._refuse(largest == 0, "only zeros, which have no direction", "remove them")
        return self

    def _refuse(self, is_bad: Array, problem: str, remedy: str) -> None:
        rows = np.flatnonzero(is_bad).tolist()
        if rows:
            raise CommandError(
                f"{self.source}: {len(rows)} of {self.values.shape[0]} samples hold {problem}: "
                f"{self.origins(rows)}; {remedy}"
            )


def _largest(values: Matrix) -> Array:
    """Return the largest magnitude of each sample, NaN if it holds one."""
    if sparse.issparse(values):
        return abs(values).max(axis=1).toarray().ravel()
    return abs(values.reshape(len(values), -1).astype(np.float64)).max(axis=1)
