"""PNG files, written with the standard library only."""

import struct
import zlib

import numpy as np

from dssc._typing import Array


def encode_png(image: Array) -> bytes:
    """Return a uint8 image, (height, width) or (height, width, 3), as the content of a PNG file."""
    image = np.ascontiguousarray(image, dtype=np.uint8)
    height, width = image.shape[:2]
    colour_type = 0 if image.ndim == 2 else 2
    # Every line starts with the number of its filter: 1 is the difference to the pixel on the left.
    steps = image.copy()
    steps[:, 1:] -= image[:, :-1]
    lines = np.ones((height, 1 + image[0].size), dtype=np.uint8)
    lines[:, 1:] = steps.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, body) for kind, body in chunks)


def _chunk(kind: bytes, body: bytes) -> bytes:
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)
