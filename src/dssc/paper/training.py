"""Training DSC-Net: the autoencoder alone first, then with the self-expression."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dssc._typing import Array
from dssc.paper.network import Autoencoder, expression_loss, reconstruction_loss

# Step size of Adam, in both phases.
LEARNING_RATE = 1e-3
# The autoencoder is trained until its loss falls by less than this share ...
LEAST_IMPROVEMENT = 0.01
# ... within this many steps ...
WINDOW = 100
# ... or until it has taken this many. DSC-Net's authors stop once the pictures look good.
MOST_STEPS = 3000


@dataclass(frozen=True)
class Training:
    """A trained network.

    Attributes
    ----------
    representation : ndarray of shape (n_samples, n_samples)
        The self-expression C of the codes, with its diagonal, in float32: ``Z ≈ C Z``.
    pretraining_steps : int
        Steps of the autoencoder alone.
    explained : float
        Share of the variance around the mean image that the autoencoder alone explained.
    loss : float
        DSC-Net's objective at the end.
    """

    representation: Array
    pretraining_steps: int
    explained: float
    loss: float


def train(
    images: Array,
    *,
    kernels: Sequence[int],
    channels: Sequence[int],
    expression_weight: float,
    coefficient_weight: float,
    start: float,
    steps: int,
    seed: int,
    device: str = "cpu",
) -> Training:
    """Train DSC-Net on all images at once, and return its self-expression.

    Parameters
    ----------
    images : ndarray of shape (n_samples, height, width)
        Grey values from 0 to 255.
    kernels, channels : sequence of int
        See :class:`dssc.paper.network.Autoencoder`.
    expression_weight, coefficient_weight : float
        See :func:`dssc.paper.network.expression_loss`.
    start : float
        Initial value of all coefficients.
    steps : int
        Steps with the self-expression.
    seed : int
        Seed of the initial weights, the only randomness.
    device : str, default="cpu"
        Device of PyTorch.
    """
    generator = torch.Generator().manual_seed(seed)
    model = Autoencoder(kernels, channels, generator).to(device)
    X = torch.as_tensor(images, dtype=torch.float32, device=device)[:, None]
    # The same numbers every time, in full single precision, also on a GPU.
    with torch.backends.cudnn.flags(
        enabled=True, benchmark=False, deterministic=True, allow_tf32=False
    ):
        n_steps, explained = _pretrain(model, X)
        if not explained > 0:
            raise ValueError(
                f"the autoencoder is no better than the mean image after {n_steps} steps from "
                f"seed={seed}; take another seed"
            )
        C = torch.full((len(X), len(X)), start, device=device, requires_grad=True)
        weights = expression_weight, coefficient_weight
        loss = _minimise(
            lambda: expression_loss(model, C, X, *weights), [*model.parameters(), C], steps
        )
    if not np.isfinite(loss):
        raise ValueError(f"the loss is {loss} after {steps} steps from seed={seed}")
    return Training(C.detach().cpu().numpy(), n_steps, explained, loss)


def _pretrain(model: Autoencoder, X: Tensor) -> tuple[int, float]:
    """Train the autoencoder alone; return the number of steps and the variance it explains."""
    optimizer = _adam(list(model.parameters()))
    variance = float((X - X.mean(dim=0)).square().sum()) / 2
    loss, n_steps = np.inf, 0
    while n_steps < MOST_STEPS:
        previous = loss
        loss = _minimise(lambda: reconstruction_loss(model, X), None, WINDOW, optimizer)
        n_steps += WINDOW
        # A loss above that of the mean image is a plateau on the way.
        if loss < variance and loss > (1 - LEAST_IMPROVEMENT) * previous:
            break
    return n_steps, 1 - loss / variance


def _minimise(
    objective: Callable[[], Tensor],
    parameters: Sequence[Any] | None,
    steps: int,
    optimizer: torch.optim.Optimizer | None = None,
) -> float:
    """Take steps of Adam, and return the objective before the last one."""
    optimizer = optimizer or _adam(parameters)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = objective()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


def _adam(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.Adam(parameters, lr=LEARNING_RATE)
