"""The idx format of MNIST and EMNIST."""

import math
import struct
from gzip import GzipFile
from typing import IO

import numpy as np

from dssc._typing import Array
from dssc.datasets.errors import damaged, reading

# The format's code for arrays of unsigned bytes.
UNSIGNED_BYTE = 8


def read_idx(stream: IO[bytes] | GzipFile, name: str, shape: tuple[int, ...]) -> Array:
    """Read an idx file of unsigned bytes.

    Parameters
    ----------
    stream : binary file
        The file, decompressed.
    name : str
        Its name, for errors.
    shape : tuple of int
        The largest number of items, then the shape of each. It bounds the memory that is used,
        whatever the header of the file or its compressed content claims.

    Returns
    -------
    array : ndarray of uint8
        The items.
    """
    with reading(name):
        magic, expected = stream.read(4), bytes([0, 0, UNSIGNED_BYTE, len(shape)])
        if magic != expected:
            raise damaged(name, f"starts with the bytes {magic.hex()!r}, not {expected.hex()!r}")
        dims = struct.unpack(f">{len(shape)}I", stream.read(4 * len(shape)))
        if dims[0] > shape[0] or dims[1:] != shape[1:]:
            raise damaged(name, f"declares the shape {dims}, expected at most {shape}")
        content = stream.read(math.prod(dims) + 1)
    if len(content) != math.prod(dims):
        extent = "more" if len(content) > math.prod(dims) else len(content)
        raise damaged(name, f"declares {math.prod(dims)} bytes of data and holds {extent}")
    return np.frombuffer(content, np.uint8).reshape(dims)
