"""Tables of numbers in parquet files, with a row per sample, with or without labels."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from dssc.cli.exits import CommandError
from dssc.cli.reading.columns import choose_columns
from dssc.cli.reading.expansion import check_expanded
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples

# Names under which pandas stores the index of a table.
PANDAS_INDEX = re.compile(r"__index_level_\d+__")


# The options that apply to these files.
options = ("drop",)


def read(path: Path, options: ReadOptions) -> Samples:
    """Read the samples, and their labels if the table has a column of that name."""
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise CommandError(f"reading {path} needs pyarrow: pip install 'dssc[tables]'") from error
    try:
        with parquet.ParquetFile(path) as file:
            check_expanded(path, _expanded_bytes(file.metadata))
            table = file.read()
    except (CommandError, MemoryError):
        raise
    # Damaged files raise exceptions of several families.
    except Exception as error:
        raise CommandError(f"{path} is not a readable parquet file: {error}") from error
    names = table.column_names
    indices = [name for name in names if PANDAS_INDEX.fullmatch(name)]
    label, features = choose_columns(path, names, options.labels, [*options.drop, *indices])
    columns = []
    for index in features:
        column = table.column(index).to_numpy()
        if column.dtype.kind not in "biuf":
            raise CommandError(
                f"{path}: the column {names[index]!r} holds {table.schema.types[index]}, "
                "not numbers; leave it out with --drop, or name it with --labels"
            )
        columns.append(column.astype(np.float64))
    labels = None
    if label is not None:
        labels = np.array([str(value) for value in table.column(label).to_pylist()])
    return Samples(str(path), np.stack(columns, axis=1), labels)


def _expanded_bytes(metadata: Any) -> int:
    """Return the size of a table in memory: as it declares, and at least eight bytes per cell."""
    declared = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return max(declared, 8 * metadata.num_rows * metadata.num_columns)
