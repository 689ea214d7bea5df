"""Cell arrays of images in MATLAB files.

SciPy's `loadmat` reads them too, but a damaged file can crash the interpreter there. This reader
supports only such cell arrays, and bounds every size before it is used.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from dssc._typing import Array
from dssc.datasets.errors import damaged, reading

# Bytes before the first element.
HEADER_BYTES = 128
# Version of the format of MATLAB 5 to 7.
VERSION = 0x0100
# Byte orders, by the mark at the end of the header.
BYTE_ORDERS = {b"IM": "<", b"MI": ">"}
# Types of elements.
UINT8, MATRIX, COMPRESSED = 2, 14, 15

# The type and the content of an element.
Element = tuple[int, memoryview]


def read_image_cells(
    path: Path, variable: str, n_cells: int, shape: tuple[int, int], max_images: int
) -> list[Array]:
    """Read a cell array whose cells are stacks of gray images.

    Parameters
    ----------
    path : Path
        A MATLAB file of version 5 to 7.
    variable : str
        Name of the cell array.
    n_cells : int
        Number of cells it must have.
    shape : tuple of two ints
        Height and width of the images.
    max_images : int
        Number of images, over all cells, that no intact file exceeds.

    Returns
    -------
    cells : list of ndarray of shape (n_images, height, width)
        The images of each cell, in uint8.
    """
    max_bytes = 2**20 + max_images * math.prod(shape)  # a megabyte for the rest of the file
    with path.open("rb") as file, reading(path):
        content = file.read(max_bytes + 1)
        for name, parts, order in _matrices(path, content, max_bytes, n_cells):
            if name != variable.encode():
                continue
            if [kind for kind, _ in parts] != [MATRIX] * n_cells:
                raise damaged(path, f"must hold {n_cells} cells in {variable!r}, not {len(parts)}")
            return [_images(path, body, order, shape) for _, body in parts]
    raise damaged(path, f"lacks the variable {variable!r}")


def _matrices(
    path: Path, content: bytes, max_bytes: int, n_cells: int
) -> Iterator[tuple[bytes, list[Element], str]]:
    """Yield the name and the parts of each variable, and the byte order of the file."""
    order = BYTE_ORDERS.get(content[HEADER_BYTES - 2 : HEADER_BYTES])
    if order is None or struct.unpack_from(f"{order}H", content, HEADER_BYTES - 4) != (VERSION,):
        raise damaged(path, "is not a MATLAB file of version 5 to 7")
    for kind, body in _elements(memoryview(content)[HEADER_BYTES:], order):
        if kind == COMPRESSED:
            inflated = zlib.decompressobj().decompress(body, max_bytes + 1)
            if len(inflated) > max_bytes:
                raise damaged(path, f"holds more than {max_bytes} bytes")
            kind, body = next(_elements(memoryview(inflated), order))
        if kind == MATRIX:
            _, _, (_, name), *parts = islice(_elements(body, order), 4 + n_cells)
            yield bytes(name), parts, order


def _elements(content: memoryview, order: str) -> Iterator[Element]:
    """Yield the consecutive elements in `content`."""
    start = 0
    while start < len(content):
        kind, n_bytes = struct.unpack_from(f"{order}II", content, start)
        begin = start + 8
        if kind >> 16:  # a small element: its size is stored with its type
            kind, n_bytes, begin = kind & 0xFFFF, kind >> 16, start + 4
        body = content[begin : begin + n_bytes]
        if len(body) != n_bytes:
            raise ValueError(f"an element of {n_bytes} bytes ends after {len(body)}")
        yield kind, body
        # Elements start at multiples of eight bytes, except after compressed ones.
        start = begin + n_bytes
        start += 0 if kind == COMPRESSED else -start % 8


def _images(path: Path, body: memoryview, order: str, shape: tuple[int, int]) -> Array:
    _, (_, dims), _, (kind, pixels) = islice(_elements(body, order), 4)
    height, width, *count = np.frombuffer(dims, f"{order}i4").tolist()
    if kind != UINT8 or len(count) > 1:
        raise damaged(path, "must hold stacks of 8-bit images in its cells")
    if (height, width) != shape:
        raise damaged(path, f"holds images of {height} x {width}, not {shape[0]} x {shape[1]}")
    # The file stores columns first; a single image has no third dimension.
    return np.frombuffer(pixels, np.uint8).reshape(*count or (1,), width, height).swapaxes(1, 2)
