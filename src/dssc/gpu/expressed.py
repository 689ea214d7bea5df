"""The self-expression of a data set on a device, in the form the estimators compose."""

import numpy as np
import torch

from dssc._progress import Progress
from dssc.features.scaling import check_no_zero_rows, refuse_zeros
from dssc.gpu.kmeans import device_labels
from dssc.gpu.problem import DeviceProblem
from dssc.gpu.spectral import device_embedding


class ExpressedOnDevice:
    """C by least squares on a device, its projection, and the spectral step there."""

    def __init__(self, X, eta1: float, device, progress: Progress):
        _check_rows(X)
        self.device = device
        self.problem = DeviceProblem(X, eta1, device, progress)
        self.similarities = self.problem.similarities
        self.coefficients = self.problem.coefficients

    def report_to(self, progress: Progress) -> None:
        """Show further searches on another run's progress."""
        self.problem.progress = progress

    def embedding(self, A, n_clusters, n_components, rng) -> np.ndarray:
        """Return the leading eigenvectors of A."""
        csr = self.problem.plan_on_device(A)
        return device_embedding(A, csr, n_clusters, n_components, rng)

    def labels(self, U, n_clusters, n_init, rng) -> np.ndarray:
        """Return labels by k-means on the rows of an embedding."""
        return device_labels(U, n_clusters, n_init, self.problem.mass, rng, self.device)


def checked_tensor(X) -> torch.Tensor:
    """Return a tensor that is a matrix of finite floats with at least two rows."""
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix; its shape is {tuple(X.shape)}")
    if len(X) < 2:
        raise ValueError(f"Found array with {len(X)} sample(s) while a minimum of 2 is required.")
    X = X if X.dtype in (torch.float32, torch.float64) else X.double()
    if not bool(torch.isfinite(X.sum())) and not bool(torch.isfinite(X).all()):
        n_bad = int((~torch.isfinite(X)).sum())
        raise ValueError(f"X holds {n_bad} NaN or infinite values; replace or remove them")
    return X


def _check_rows(X):
    """Refuse zero rows, by name."""
    if isinstance(X, torch.Tensor):
        refuse_zeros(X.abs().amax(dim=1).cpu().numpy())
    else:
        check_no_zero_rows(X)
