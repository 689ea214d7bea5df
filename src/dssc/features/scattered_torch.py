"""The paper's scattered features in torch, from images to unit rows, all on one device."""

import numpy as np
import torch
from sklearn.utils import gen_batches

from dssc._typing import Array
from dssc.features.filters import FilterBank, filter_bank

# Images that are scattered together.
CHUNK = 1024
# Samples that are converted to float64 together.
ROWS = 1 << 15


def scattered_on_device(
    images: Array | torch.Tensor, side: int, J: int, L: int, n_components: int, device: torch.device
) -> torch.Tensor:
    """Return what `dssc.scattered_features` returns, as a float32 tensor on a device."""
    features = torch.cat(
        [
            _scattered(torch.as_tensor(images[chunk]).to(device), side, J, L)
            for chunk in gen_batches(len(images), CHUNK)
        ]
    )
    X = _leading_components(features, n_components)
    return (X / torch.linalg.vector_norm(X, dim=1, keepdim=True)).float()


def _scattered(images: torch.Tensor, side: int, J: int, L: int) -> torch.Tensor:
    """Return the normalised scattering coefficients of a chunk of images."""
    n = len(images)
    images = images.float()
    planes = images[:, None] if images.ndim == 3 else images.movedim(3, 1)
    planes = torch.nn.functional.interpolate(
        planes, size=(side, side), mode="bilinear", align_corners=False
    ).reshape(-1, side, side)
    paths = _paths(planes, filter_bank(side, side, J, L), J)
    largest = paths.abs().amax(dim=2, keepdim=True)
    paths = paths / torch.where(largest > 0, largest, 1.0)
    return paths.reshape(n, -1)


def _paths(planes: torch.Tensor, bank: FilterBank, J: int) -> torch.Tensor:
    """Return the coefficients of images, of shape (n_images, n_paths, size)."""
    rows, columns = (torch.as_tensor(places, device=planes.device) for places in bank.border)
    lowpass = [torch.as_tensor(np.kron(*pair), device=planes.device) for pair in bank.lowpass]

    def smooth(U: torch.Tensor, resolution: int) -> torch.Tensor:
        return U.flatten(-2) @ lowpass[resolution]

    x = planes[:, rows, columns]
    zeroth = smooth(x, 0)[:, None]
    X = torch.fft.fft2(x)
    first, second = [], []
    for j1 in range(J):
        U1 = _moduli(X, bank.wavelets[j1][0], 2**j1)
        first.append(smooth(U1, j1))
        transforms = torch.fft.fft2(U1).flatten(0, 1)
        coarser = [
            smooth(_moduli(transforms, bank.wavelets[j2][j1], 2 ** (j2 - j1)), j2).unflatten(
                0, (len(planes), -1)
            )
            for j2 in range(j1 + 1, J)
        ]
        if coarser:
            second.append(torch.cat(coarser, dim=2).flatten(1, 2))
    return torch.cat([zeroth, *first, *second], dim=1)


def _moduli(transforms: torch.Tensor, filters: Array, factor: int) -> torch.Tensor:
    """Return the moduli of filtered, subsampled images, (n_images, n_filters, height, width)."""
    n, height, width = transforms.shape
    weights = torch.as_tensor(filters, device=transforms.device)
    product = transforms[:, None] * weights
    folded = product.view(n, len(weights), factor, height // factor, factor, width // factor)
    return torch.fft.ifft2(folded.sum(dim=(2, 4))).abs()


def _leading_components(F: torch.Tensor, n_components: int) -> torch.Tensor:
    """Project the rows of F on their leading singular directions, as `dssc.pca_features` does."""
    n, d = F.shape
    blocks = list(gen_batches(n, ROWS))
    gram = F.new_zeros((d, d), dtype=torch.float64)
    for block in blocks:
        part = F[block].double()
        gram += part.T @ part
    _, directions = torch.linalg.eigh(gram)
    directions = directions[:, -n_components:].flip(1)
    X = torch.cat([F[block].double() @ directions for block in blocks])
    largest = X[X.abs().argmax(dim=0), torch.arange(n_components, device=X.device)]
    return X * torch.where(largest < 0, -1.0, 1.0)
