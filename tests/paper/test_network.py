import numpy as np
import pytest

torch = pytest.importorskip("torch")

from dssc.paper.network import Autoencoder, expression_loss, reconstruction_loss  # noqa: E402


def network(kernels=(3, 3), channels=(2, 3), seed=0):
    return Autoencoder(kernels, channels, torch.Generator().manual_seed(seed)).double()


@pytest.mark.parametrize(("height", "width"), [(8, 8), (12, 11), (7, 5)])
def test_images_keep_their_shape_and_layers_halve_it(height, width):
    model = network(kernels=(5, 3), channels=(4, 3))
    images = torch.rand(6, 1, height, width, dtype=torch.float64)
    codes = model.encode(images)
    assert codes.shape == (6, 3 * -(-height // 4) * -(-width // 4))
    assert model.decode(codes, images).shape == images.shape


def test_a_convolution_by_hand():
    model = network(kernels=(3,), channels=(1,))
    with torch.no_grad():
        model.encoder_weights[0].zero_()[0, 0, 1, 2] = 2.0  # twice the pixel to the right
        model.encoder_biases[0].fill_(-1.0)
    images = torch.arange(16.0, dtype=torch.float64).reshape(1, 1, 4, 4)
    # Pixels (0, 1), (0, 3), (2, 1) and (2, 3) are 1, 3, 9 and 11.
    assert model.encode(images).tolist() == [[1.0, 5.0, 17.0, 21.0]]


def test_gradients_are_finite_differences():
    model = network()
    rng = torch.Generator().manual_seed(1)
    images = torch.rand(5, 1, 6, 6, generator=rng, dtype=torch.float64)
    C = torch.rand(5, 5, generator=rng, dtype=torch.float64).requires_grad_()
    parameters = [C, *model.parameters()]
    with torch.no_grad():
        for bias in (*model.encoder_biases, *model.decoder_biases):
            bias.add_(0.1)  # away from the kinks of ReLU at zero
    for objective in (
        lambda: expression_loss(model, C, images, 0.7, 0.3),
        lambda: reconstruction_loss(model, images),
    ):
        gradients = torch.autograd.grad(objective(), parameters, allow_unused=True)
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if gradient is None:
                assert parameter is C
                continue
            _check_first_entries(objective, parameter, gradient)


def _check_first_entries(objective, parameter, gradient, step=1e-6):
    flat = parameter.detach().view(-1)
    for i in range(min(4, flat.numel())):
        value = float(flat[i])
        flat[i] = value + step
        above = float(objective().detach())
        flat[i] = value - step
        below = float(objective().detach())
        flat[i] = value
        assert float(gradient.view(-1)[i]) == pytest.approx((above - below) / (2 * step), rel=1e-5)


def test_the_objective_is_the_sum_of_its_terms():
    model = network()
    images = torch.rand(4, 1, 6, 6, dtype=torch.float64)
    # C = I expresses each code by itself.
    identity = torch.eye(4, dtype=torch.float64)
    with torch.no_grad():
        expressed = float(expression_loss(model, identity, images, 5.0, 0.25))
        assert expressed == pytest.approx(float(reconstruction_loss(model, images)) + 0.25 * 4)
    codes = model.encode(images).detach().numpy()
    nothing = model.decode(torch.zeros_like(model.encode(images)), images).detach().numpy()
    loss = expression_loss(model, 0 * identity, images, 5.0, 0.25).detach()
    terms = 0.5 * np.sum((images.numpy() - nothing) ** 2) + 5.0 * 0.5 * np.sum(codes**2)
    assert float(loss) == pytest.approx(terms)
