"""Samples as they were read: values, where each came from, and labels if they were beside them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import gen_batches

from dssc.cli.exits import CommandError

MOST_NAMED = 8
BATCH = 2048  # samples looked at together; they may be a memory map larger than memory


@dataclass
class Samples:
    """What a file or folder holds.

    Parameters
    ----------
    source : str
        The file or folder.
    values : ndarray or csr_array of shape (n, d), or ndarray of shape (n, height, width[, 3])
        Features, or images.
    labels : ndarray of shape (n,) or None
        Classes that were asked for and found inside the source.
    names : sequence of str or None
        Files of the samples, where each has one.
    lines : sequence of int or None
        Lines of a text file the samples stand in.
    """

    source: str
    values: Any
    labels: np.ndarray | None = None
    names: Sequence[str] | None = None
    lines: Sequence[int] | None = None

    @property
    def are_images(self) -> bool:
        """Whether the samples are images."""
        return self.values.ndim > 2

    def places(self, rows) -> str:
        """Say where samples are, in terms of the source."""
        shown = rows[:MOST_NAMED]
        if self.names is not None:
            what, places = "", [self.names[row] for row in shown]
        elif self.lines is not None:
            what, places = "lines ", [str(self.lines[row]) for row in shown]
        else:
            what, places = "rows (from 0) ", [str(row) for row in shown]
        more = f" and {len(rows) - len(shown)} more" if len(rows) > len(shown) else ""
        return what + ", ".join(places) + more

    def check(self) -> "Samples":
        """Refuse values that no method can use, and say where they are."""
        n = self.values.shape[0]
        if n < 2 or 0 in self.values.shape:
            raise CommandError(f"{self.source} holds {n} samples; clustering needs at least 2")
        largest = np.concatenate([_largest(self.values[b]) for b in gen_batches(n, BATCH)])
        bad = np.flatnonzero(~np.isfinite(largest))
        self._refuse(bad, "NaN or infinite values", "fill or remove them")
        zero = np.flatnonzero(largest == 0)
        self._refuse(zero, "nothing but zeros, which have no direction", "remove them")
        return self

    def _refuse(self, rows, what, remedy):
        if len(rows):
            raise CommandError(
                f"{self.source}: {len(rows)} of {self.values.shape[0]} samples hold {what}: "
                f"{self.places(rows.tolist())}; {remedy}"
            )


def _largest(part):
    """Return the largest magnitude of each sample, NaN where it holds one."""
    if sparse.issparse(part):
        return abs(part).max(axis=1).toarray().ravel()
    return abs(part.reshape(len(part), -1).astype(np.float64)).max(axis=1)
