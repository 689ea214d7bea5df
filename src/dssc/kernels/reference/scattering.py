"""The scattering transform's multiplication by filters."""

from dssc._typing import Array


def filter_and_fold(transforms: Array, filters: Array, factor: int, out: Array) -> None:
    """Write each transform times each filter, summed over the frequencies that fold onto one."""
    n, height, width = transforms.shape
    product = transforms[:, None] * filters[None]
    blocks = (n, len(filters), factor, height // factor, factor, width // factor)
    out[:] = product.reshape(blocks).sum(axis=(2, 4))
