"""Arrays in HDF5 files, by their path in the file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dssc._typing import Array
from dssc.cli.exits import CommandError

# Kinds of NumPy types that are numbers.
NUMBERS = "biuf"


class Budget:
    """Reads arrays as long as they fit into a number of bytes all together."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes

    def read(self, dataset: Any) -> Array:
        """Return the numbers or texts of a dataset."""
        if dataset.external is not None or dataset.is_virtual:
            raise CommandError(
                f"{dataset.file.filename}: {dataset.name} lies in another file; copy its values"
            )
        # The size is known before anything is allocated.
        self.n_bytes -= dataset.size * max(dataset.dtype.itemsize, 1)
        if self.n_bytes < 0:
            raise MemoryError
        return dataset.asstr()[()].astype(str) if is_text(dataset) else dataset[()]


def import_h5py(path: Path) -> Any:
    """Return h5py; if it is missing, the error names the extra."""
    try:
        import h5py
    except ImportError as error:
        raise CommandError(f"reading {path} needs h5py: pip install 'dssc[hdf5]'") from error
    return h5py


def load(path: Path, limit: int, wanted: Sequence[str] = ()) -> dict[str, Array]:
    """Return the arrays of numbers and texts; if all `wanted` ones exist, only these."""
    h5py = import_h5py(path)
    with h5py.File(path) as file:
        datasets: dict[str, Any] = {}

        def collect(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset) and (is_numeric(item) or is_text(item)):
                datasets[name] = item

        file.visititems(collect)
        names = wanted if wanted and set(wanted) <= set(datasets) else datasets
        budget = Budget(limit)
        return {name: budget.read(datasets[name]) for name in names}


def is_numeric(dataset: Any) -> bool:
    """Return whether a dataset is an array of numbers."""
    return dataset.shape not in (None, ()) and dataset.dtype.kind in NUMBERS


def is_text(dataset: Any) -> bool:
    """Return whether a dataset is a list of texts."""
    import h5py

    is_list = dataset.shape is not None and len(dataset.shape) == 1
    return is_list and h5py.check_string_dtype(dataset.dtype) is not None
