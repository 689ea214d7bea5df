"""Columns that number the rows: among the features, they would spoil the clustering."""

from collections.abc import Sequence

import numpy as np

from dssc._typing import Array

# Fewest rows for which counting up is no coincidence.
FEWEST_ROWS = 8
# Names of columns of identifiers, and the endings of such names, in lower case.
ID_NAMES = ("id", "index", "row", "key", "no", "nr")
ID_ENDINGS = ("_id", "-id", " id", "_index")


def warn_of_row_numbers(source: str, X: Array, names: Sequence[str]) -> list[str]:
    """Return a warning for each feature that looks like the number or the id of its row."""
    if len(X) < FEWEST_ROWS or len(names) < 2:
        return []
    return [
        f"{source}: the column {name!r} looks like an id and counts as a feature; leave it out "
        f"with --drop {name!r}, or name the samples by it with --id {name!r}"
        for name, column in zip(names, X.T, strict=True)
        if _counts_rows(column) or (_is_id_name(name) and _has_distinct_integers(column))
    ]


def _counts_rows(column: Array) -> bool:
    """Return whether values are consecutive integers, such as 0, 1, 2 or 1, 2, 3."""
    return bool(column[0] in (0, 1) and np.all(np.diff(column) == 1))


def _is_id_name(name: str) -> bool:
    name = name.lower()
    return name in ID_NAMES or name.endswith(ID_ENDINGS)


def _has_distinct_integers(column: Array) -> bool:
    return bool(np.all(np.mod(column, 1) == 0) and len(np.unique(column)) == len(column))
