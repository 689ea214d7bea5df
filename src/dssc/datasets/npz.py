"""NumPy archives, read without trusting their headers."""

import math
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dssc._typing import Array
from dssc.datasets.archive import open_zip
from dssc.datasets.errors import damaged


def read_arrays(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Read arrays of numbers from an ``.npz`` file.

    Shape and type are checked before memory is allocated, and pickled objects are never loaded.

    Parameters
    ----------
    path : Path
        The file.
    shapes : mapping from str to tuple
        Names to read and the shapes they must have.

    Returns
    -------
    arrays : dict of ndarray
        The arrays by name.
    """
    with open_zip(path) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
        missing = set(shapes) - set(names)
        if missing:
            raise damaged(path, f"lacks {sorted(missing)}: it holds {sorted(names)}")
        return {name: _read_array(archive, name, path, shape) for name, shape in shapes.items()}


def _read_array(
    archive: zipfile.ZipFile, name: str, path: Path, expected: tuple[int, ...]
) -> Array:
    with archive.open(f"{name}.npy") as member:
        # Every array of numbers has a header of version 1.0.
        version = np.lib.format.read_magic(member)
        if version != (1, 0):
            raise damaged(path, f"holds {name!r} in version {version} of the npy format")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(member)
        if dtype.kind not in "iuf":
            raise damaged(path, f"holds {name!r} of type {dtype}, not numbers")
        if shape != expected:
            raise damaged(path, f"holds {name!r} of shape {shape}, not {expected}")
        n_bytes = math.prod(shape) * dtype.itemsize
        content = member.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise damaged(path, f"holds {name!r} with a size that does not match its shape {shape}")
    # The copy is writable; the buffer of bytes is not.
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran_order else "C").copy()
