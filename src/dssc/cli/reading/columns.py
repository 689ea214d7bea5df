"""The columns of a table: which are features, and which hold the labels and the names."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from dssc.cli.exits import CommandError
from dssc.cli.reading.reader import ReadOptions

# Column names that an error lists; of more columns it gives the number.
NAMES_LISTED = 12


@dataclass
class Columns:
    """The roles of the columns of a table, by index.

    Parameters
    ----------
    names : sequence of str
        The names of all columns.
    features : list of int
        The columns with the features.
    label, id : int or None
        The columns with the labels, and with the name of each sample.
    """

    names: Sequence[str]
    features: list[int]
    label: int | None
    id: int | None


def choose_columns(
    path: Path, names: Sequence[str], options: ReadOptions, ignored: Sequence[str] = ()
) -> Columns:
    """Return the roles of the columns of a table; those in `ignored` are no features."""
    for name in options.drop:
        check_name(path, f"--drop {name}", name, names)
    if options.id is not None:
        check_name(path, f"--id {options.id}", options.id, names)
    if options.labels is not None:
        check_labels(path, options.labels, names)
    label = names.index(options.labels) if options.labels in names else None
    identity = None if options.id is None else names.index(options.id)
    left_out = {*options.drop, *ignored}
    features = [
        index
        for index, name in enumerate(names)
        if index not in (label, identity) and name not in left_out
    ]
    nameless = [index for index in features if not names[index]]
    if nameless:
        raise CommandError(
            f"{path}: column {nameless[0] + 1} has no name; if it holds the row numbers that "
            "pandas writes, leave it out with --drop '', otherwise name it"
        )
    if not features:
        raise CommandError(f"{path} has no columns left for features; it has {_listed(names)}")
    return Columns(names, features, label, identity)


def check_name(path: Path, option: str, name: str, names: Sequence[str]) -> None:
    """Refuse the name of a column or array that the file does not have."""
    if name not in names:
        raise CommandError(f"{option}: {missing(path, name, names)}")


def check_labels(path: Path, labels: str, names: Sequence[str]) -> None:
    """Refuse labels that are neither a column or array of the file nor a file of their own."""
    if labels not in names and not Path(labels).is_file():
        raise CommandError(
            f"--labels {labels}: {missing(path, labels, names)}; and there is no such file"
        )


def missing(path: Path, name: str, names: Sequence[str]) -> str:
    """Return the message that a file has no column or array of a name, and which one is near."""
    folded = {known.casefold(): known for known in reversed(names)}
    near = get_close_matches(name.casefold(), folded, n=1)
    meant = f"did you mean {folded[near[0]]!r}? " if near else ""
    return f"{path} has no column or array of that name; {meant}it has {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:NAMES_LISTED])
    return f"{shown}, ... ({len(names)} in all)" if len(names) > NAMES_LISTED else shown or "none"
