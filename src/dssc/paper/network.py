"""DSC-Net: a convolutional autoencoder whose codes express each other. It needs PyTorch.

Ji, Zhang, Li, Salzmann and Reid, "Deep Subspace Clustering Networks", NeurIPS 2017.
"""

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

# Every layer halves height and width.
STRIDE = 2


class Autoencoder(nn.Module):
    """Convolutions with stride 2 and ReLU, and the transposed ones in reverse order.

    Parameters
    ----------
    kernels : sequence of int
        Odd size of the square kernels of each layer.
    channels : sequence of int
        Channels that each layer of the encoder gives. The images have one.
    generator : torch.Generator
        Source of the initial weights, which are uniform as proposed by Glorot and Bengio. Biases
        start at zero.
    """

    def __init__(
        self, kernels: Sequence[int], channels: Sequence[int], generator: torch.Generator
    ) -> None:
        super().__init__()
        shapes = [
            (after, before, kernel, kernel)
            for before, after, kernel in zip((1, *channels), channels, kernels, strict=False)
        ]
        self.kernels = list(kernels)
        self.encoder_weights = _initial_weights(shapes, generator)
        self.encoder_biases = _zeros(shape[0] for shape in shapes)
        self.decoder_weights = _initial_weights(shapes[::-1], generator)
        self.decoder_biases = _zeros(shape[1] for shape in shapes[::-1])

    def encode(self, images: Tensor) -> Tensor:
        """Return the codes of images of shape (n, 1, height, width), one row per image."""
        return self._feature_maps(images)[-1].flatten(1)

    def decode(self, codes: Tensor, images: Tensor) -> Tensor:
        """Return images made of codes, in the shape of `images`."""
        sizes = [images.shape[2:]]
        for _ in self.kernels:
            sizes.append(torch.Size((side + 1) // STRIDE for side in sizes[-1]))
        x = codes.reshape(len(codes), -1, *sizes[-1])
        layers = zip(self.decoder_weights, self.decoder_biases, strict=True)
        for (weight, bias), size in zip(layers, sizes[-2::-1], strict=True):
            padding = weight.shape[-1] // 2
            # An odd side and the even one after it have the same half.
            extra = [1 - side % STRIDE for side in size]
            x = functional.conv_transpose2d(x, weight, bias, STRIDE, padding, extra).relu()
        return x

    def _feature_maps(self, images: Tensor) -> list[Tensor]:
        maps = [images]
        for weight, bias in zip(self.encoder_weights, self.encoder_biases, strict=True):
            padding = weight.shape[-1] // 2
            maps.append(functional.conv2d(maps[-1], weight, bias, STRIDE, padding).relu())
        return maps


def reconstruction_loss(model: Autoencoder, images: Tensor) -> Tensor:
    """Return half the sum of squared differences between images and their reconstructions."""
    return _half_squares(images - model.decode(model.encode(images), images))


def expression_loss(
    model: Autoencoder,
    C: Tensor,
    images: Tensor,
    expression_weight: float,
    coefficient_weight: float,
) -> Tensor:
    """Return DSC-Net's objective for images X with codes Z that are expressed as C Z.

    It is ``½‖X − decode(C Z)‖² + ½ expression_weight ‖Z − C Z‖² + coefficient_weight ‖C‖²``.
    """
    codes = model.encode(images)
    expressed = C @ codes
    return (
        _half_squares(images - model.decode(expressed, images))
        + expression_weight * _half_squares(codes - expressed)
        + coefficient_weight * C.square().sum()
    )


def _half_squares(x: Tensor) -> Tensor:
    return x.square().sum() / 2


def _initial_weights(
    shapes: Sequence[tuple[int, ...]], generator: torch.Generator
) -> nn.ParameterList:
    weights = [torch.empty(shape) for shape in shapes]
    for weight in weights:
        nn.init.xavier_uniform_(weight, generator=generator)
    return nn.ParameterList(weights)


def _zeros(sizes: Iterable[int]) -> nn.ParameterList:
    return nn.ParameterList(torch.zeros(size) for size in sizes)
