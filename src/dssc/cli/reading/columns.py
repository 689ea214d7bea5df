"""The columns of a table: which are features, and which holds the labels."""

from collections.abc import Sequence
from pathlib import Path

from dssc.cli.exits import CommandError

# Column names that an error lists; of more columns it gives the number.
NAMES_LISTED = 12


def choose_columns(
    path: Path, names: Sequence[str], labels: str | None, drop: Sequence[str]
) -> tuple[int | None, list[int]]:
    """Return the index of the column of labels, or None, and the indices of the features."""
    unknown = [name for name in drop if name not in names]
    if unknown:
        raise CommandError(f"{path} has no column {unknown[0]!r} to drop; it has {_listed(names)}")
    nameless = [index for index, name in enumerate(names) if not name and name not in drop]
    if nameless:
        raise CommandError(
            f"{path}: column {nameless[0] + 1} has no name; if it holds the row numbers that "
            "pandas writes, leave it out with --drop '', otherwise name it"
        )
    label = names.index(labels) if labels in names else None
    features = [
        index for index, name in enumerate(names) if index != label and name not in set(drop)
    ]
    if not features:
        raise CommandError(f"{path} has no columns left for features; it has {_listed(names)}")
    return label, features


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_LISTED])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > NAMES_LISTED else shown
