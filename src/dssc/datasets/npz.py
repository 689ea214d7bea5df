"""NumPy archives, read without trusting what they declare."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from dssc.datasets.archive import open_zip
from dssc.datasets.errors import damaged


def read_arrays(
    path: Path, shapes: Mapping[str, tuple[int, ...]] | None = None
) -> dict[str, np.ndarray]:
    """Read arrays of numbers from an ``.npz`` file.

    Shape and type are checked before any memory is taken, and pickled objects are never loaded.

    Parameters
    ----------
    path : Path
        The file.
    shapes : mapping from str to tuple, optional
        Names to read and the shapes they must have; all arrays, of any shape, when not given.

    Returns
    -------
    arrays : dict of ndarray
        The arrays by name.
    """
    with open_zip(path) as archive:
        held = [name.removesuffix(".npy") for name in archive.namelist()]
        missing = set(shapes or ()) - set(held)
        if missing:
            raise damaged(path, f"lacks {sorted(missing)}: it holds {sorted(held)}")
        return {
            name: _read_array(archive, name, path, shapes[name] if shapes else None)
            for name in shapes or held
        }


def _read_array(archive, name, path, expected):
    with archive.open(f"{name}.npy") as member:
        # Every array of numbers has a header of version 1.0.
        version = np.lib.format.read_magic(member)
        if version != (1, 0):
            raise damaged(path, f"holds {name!r} in the version {version} of the npy format")
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(member)
        if dtype.kind not in "iuf":
            raise damaged(path, f"holds {name!r} of type {dtype}, not numbers")
        if expected is not None and shape != expected:
            raise damaged(path, f"holds {name!r} of shape {shape}, not {expected}")
        n_bytes = math.prod(shape) * dtype.itemsize
        content = member.read(n_bytes + 1)
    if len(content) != n_bytes:
        raise damaged(path, f"holds {name!r} with a byte count that its shape {shape} denies")
    # The copy can be written to; the buffer of bytes cannot.
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran_order else "C").copy()
