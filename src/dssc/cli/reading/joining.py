"""Samples of several files as one."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading.samples import Samples


def join_samples(parts: Sequence[Samples]) -> Samples:
    """Return the samples of several files, one file after the other."""
    first = parts[0]
    for part in parts[1:]:
        _check_same_features(first, part)
    values = [part.values for part in parts]
    has_labels = all(part.labels is not None for part in parts)
    has_lines = all(part.lines is not None for part in parts)
    has_names = all(part.names is not None for part in parts)
    return Samples(
        f"{first.source} and {len(parts) - 1} more",
        sparse.vstack(values, "csr") if sparse.issparse(values[0]) else np.concatenate(values),
        np.concatenate([np.asarray(part.labels) for part in parts]) if has_labels else None,
        names=[name for part in parts for name in part.names or ()] if has_names else None,
        name_column=first.name_column,
        lines=[line for part in parts for line in part.lines or ()] if has_lines else None,
        columns=first.columns,
        files=[part.source for part in parts for _ in range(part.values.shape[0])],
        warnings=[warning for part in parts for warning in part.warnings],
    )


def _check_same_features(first: Samples, other: Samples) -> None:
    if sparse.issparse(first.values) != sparse.issparse(other.values):
        raise CommandError(f"{first.source} and {other.source} are not both sparse, or both dense")
    if first.values.shape[1:] != other.values.shape[1:]:
        raise CommandError(
            f"{other.source} has samples of shape {other.values.shape[1:]}, {first.source} of "
            f"{first.values.shape[1:]}; files that are clustered together need the same features"
        )
    for name, known in zip(other.columns or (), first.columns or (), strict=False):
        if name != known:
            raise CommandError(
                f"{other.source} has the column {name!r} where {first.source} has {known!r}; files "
                "that are clustered together need the same columns in the same order"
            )
