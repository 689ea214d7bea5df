"""A limit to the size of compressed files in memory: a small one can expand to gigabytes."""

from pathlib import Path

from dssc._memory import available_bytes
from dssc.cli.exits import CommandError

# Bytes up to which any file may expand, if there is memory for them.
ALWAYS_ALLOWED = 1 << 28
# How many times its own size a larger file may expand. Real data stay far below.
LARGEST_RATIO = 100


def largest_expansion(path: Path) -> int:
    """Return the number of bytes that the content of a file may need in memory."""
    allowed = max(ALWAYS_ALLOWED, LARGEST_RATIO * path.stat().st_size)
    available = available_bytes()
    return allowed if available is None else min(allowed, available)


def check_expanded(path: Path, n_bytes: int) -> None:
    """Refuse a file whose content needs more bytes in memory than it may."""
    limit = largest_expansion(path)
    if n_bytes > limit:
        raise CommandError(
            f"{path} has {path.stat().st_size} bytes and expands to more than {limit}, the limit "
            f"({ALWAYS_ALLOWED >> 20} MiB or {LARGEST_RATIO} times its size, and the free memory); "
            "if that is right, save it uncompressed as .npy"
        )
