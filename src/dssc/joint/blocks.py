"""Work on a large matrix a few rows at a time."""

# Entries of a matrix that are processed at once. They are few enough to stay in the cache.
BLOCK = 1 << 18


def row_blocks(n_rows: int, n_columns: int, n_entries: int = BLOCK) -> list[slice]:
    """Cut the rows of a matrix into slices of about `n_entries` entries."""
    size = max(1, n_entries // n_columns)
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
