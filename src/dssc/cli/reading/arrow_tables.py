"""Tables of numbers in parquet and feather files, with a row per sample, with or without labels.

A column of lists of one length, such as embeddings, is a column per number.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from dssc._typing import Array
from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import choose_columns
from dssc.cli.reading.expansion import check_expanded
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.row_numbers import warn_of_row_numbers
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.separate_process import read_separately

# Names under which pandas stores the index of a table.
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


# The options that apply to these files.
options = ("drop", "id")


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the table has a column of that name."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise CommandError(f"reading {path} needs pyarrow: pip install 'dssc[tables]'") from error
    table = _read_parquet(path) if path.suffix.lower() == ".parquet" else _read_feather(path)
    names = table.column_names
    indices = [name for name in names if PANDAS_INDEX.fullmatch(name)]
    columns = choose_columns(path, names, options, indices)
    features = {names[i]: _numbers(path, names[i], table.column(i)) for i in columns.features}
    X = np.column_stack(list(features.values()))
    flat = [
        name if values.ndim == 1 else f"{name}[{place}]"
        for name, values in features.items()
        for place in range(values.shape[1] if values.ndim == 2 else 1)
    ]
    return Samples(
        str(path),
        X,
        None if columns.label is None else np.array(_texts(table, columns.label)),
        names=None if columns.id is None else _texts(table, columns.id),
        name_column=options.id,
        columns=flat,
        warnings=warn_of_row_numbers(str(path), X, flat),
    )


def load(path: Path, limit: int) -> Any:
    """Return the table of a feather file, which does not say how large it is uncompressed."""
    from pyarrow import feather

    table = feather.read_table(path, memory_map=False)
    table.validate(full=True)
    if table.nbytes > limit:
        raise MemoryError
    return table


def _read_feather(path: Path) -> Any:
    return read_separately(path, "feather file", "arrow_tables")


def _read_parquet(path: Path) -> Any:
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            check_expanded(path, _expanded_bytes(file.metadata))
            return file.read()
    except (CommandError, MemoryError):
        raise
    # Damaged files raise exceptions of several families.
    except Exception as error:
        raise CommandError(f"{path} is not a readable parquet file: {error}") from error


def _expanded_bytes(metadata: Any) -> int:
    """Return the size of a table in memory: as it declares, and at least eight bytes per cell."""
    declared = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return max(declared, 8 * metadata.num_rows * metadata.num_columns)


def _numbers(path: Path, name: str, column: Any) -> Array:
    """Return the values of a feature, or of as many features as its lists have numbers."""
    from pyarrow import types

    if (
        types.is_list(column.type)
        or types.is_large_list(column.type)
        or (types.is_fixed_size_list(column.type))
    ):
        return _numbers_in_lists(path, name, column)
    values = column.to_numpy()
    if values.dtype.kind not in "biuf":
        raise CommandError(
            f"{path}: the column {name!r} holds {column.type}, not numbers; leave it out with "
            "--drop, or name it with --labels or --id"
        )
    return values.astype(np.float64)


def _numbers_in_lists(path: Path, name: str, column: Any) -> Array:
    from pyarrow import compute

    lengths = compute.list_value_length(column).unique().to_pylist()
    if len(lengths) > 1 or None in lengths:
        raise CommandError(
            f"{path}: the lists in the column {name!r} differ in length or are missing; every "
            "sample needs the same number of features"
        )
    flat = _numbers(path, name, compute.list_flatten(column))
    return flat.reshape(len(column), -1)


def _texts(table: Any, index: int) -> list[str]:
    return [str(value) for value in table.column(index).to_pylist()]
