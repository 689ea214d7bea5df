"""Rows of a large matrix, a few at a time."""

BLOCK = 1 << 24  # entries of a matrix worked on at once


def blocks(n: int) -> list[slice]:
    """Cut the rows of an n x n matrix into slices of about BLOCK entries."""
    size = max(1, BLOCK // n)
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]
