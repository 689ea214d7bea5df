"""Training DSC-Net: the autoencoder alone first, then with the self-expression."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

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
    model, X = new_network(images, kernels, channels, seed, device)
    with reproducible():
        n_steps, explained = pretrain(model, X, adam(model))
        if not explained > 0:
            raise ValueError(
                f"the autoencoder is no better than the mean image after {n_steps} steps from "
                f"seed={seed}; take another seed"
            )
        C, loss = fine_tune(model, X, expression_weight, coefficient_weight, start, steps)
    if not np.isfinite(loss):
        raise ValueError(f"the loss is {loss} after {steps} steps from seed={seed}")
    return Training(C.cpu().numpy(), n_steps, explained, loss)


def new_network(
    images: Array, kernels: Sequence[int], channels: Sequence[int], seed: int, device: str
) -> tuple[Autoencoder, Tensor]:
    """Return an autoencoder with random weights, and the images of shape (n, 1, height, width)."""
    generator = torch.Generator().manual_seed(seed)
    model = Autoencoder(kernels, channels, generator).to(device)
    return model, torch.as_tensor(images, dtype=torch.float32, device=device)[:, None]


def reproducible() -> AbstractContextManager[None]:
    """Return a context of the same numbers every time, in full single precision, also on a GPU."""
    return torch.backends.cudnn.flags(
        enabled=True, benchmark=False, deterministic=True, allow_tf32=False
    )


def adam(model: Autoencoder) -> torch.optim.Optimizer:
    """Return the optimiser of a network's weights."""
    return torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)


def pretrain(
    model: Autoencoder, X: Tensor, optimizer: torch.optim.Optimizer, steps: int | None = None
) -> tuple[int, float]:
    """Train the autoencoder alone; return the number of steps and the variance it explains.

    With `steps` it takes this many, and otherwise until the loss hardly falls.
    """
    variance = float((X - X.mean(dim=0)).square().sum()) / 2
    loss, n_steps = np.inf, 0
    while n_steps < (steps or MOST_STEPS):
        previous = loss
        window = min(WINDOW, (steps or MOST_STEPS) - n_steps)
        loss = _minimise(lambda: reconstruction_loss(model, X), optimizer, window)
        n_steps += window
        # A loss above that of the mean image is a plateau on the way.
        if not steps and loss < variance and loss > (1 - LEAST_IMPROVEMENT) * previous:
            break
    return n_steps, 1 - loss / variance


def fine_tune(
    model: Autoencoder,
    X: Tensor,
    expression_weight: float,
    coefficient_weight: float,
    start: float,
    steps: int,
) -> tuple[Tensor, float]:
    """Train the network with the self-expression; return C and the objective at the end."""
    C = torch.full((len(X), len(X)), start, device=X.device, requires_grad=True)
    optimizer = adam(model)
    optimizer.add_param_group({"params": [C]})
    loss = _minimise(
        lambda: expression_loss(model, C, X, expression_weight, coefficient_weight),
        optimizer,
        steps,
    )
    return C.detach(), loss


def _minimise(
    objective: Callable[[], Tensor], optimizer: torch.optim.Optimizer, steps: int
) -> float:
    """Take steps of the optimiser, and return the objective before the last one."""
    for _ in range(steps):
        optimizer.zero_grad()
        loss = objective()
        loss.backward()
        optimizer.step()
    return float(loss.detach())
