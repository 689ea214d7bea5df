import numpy as np
import pytest
import torch
from scipy import sparse

from dssc.engines.torch.dictionary import TorchDictionary
from dssc.expression import elastic_net_representation
from dssc.expression.dictionary import Dictionary


@pytest.fixture(params=["highest", "high"])
def precision(request):
    """Set how torch may round factors of products, and restore it."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(request.param)
    yield request.param
    torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize("precise", [False, True])
def test_a_search_bounds_what_it_leaves_out(precise, precision, where, rng):
    samples = TorchDictionary(rng.standard_normal((200, 15)), where)
    own = rng.choice(200, 30, replace=False)
    residuals = rng.standard_normal((30, 15))
    further = rng.choice(200, (30, 2)).astype(np.int32)
    stored = np.arange(31) * 2, further.ravel()
    places, bounds = samples.search(residuals, own, 12, stored=stored, precise=precise)
    products = np.abs(residuals @ samples.X.T)
    for i in range(30):
        passed_over = {own[i], *further[i]}
        assert not passed_over & set(places[i])
        left_out = [j for j in range(200) if j not in {*places[i], *passed_over}]
        assert products[i, left_out].max() <= bounds[i]
        assert products[i, left_out].max() <= products[i, places[i]].min() + 1e-5


def test_a_search_for_more_than_there_is_leaves_nothing_out(where, rng):
    samples = TorchDictionary(rng.standard_normal((6, 3)), where)
    places, bounds = samples.search(samples.X, np.arange(6), 9)
    for i in range(6):
        assert sorted(places[i]) == [-1] * 4 + [j for j in range(6) if j != i]
    assert np.all(bounds == -np.inf)


def test_relative_residuals_are_those_of_the_cpu(where, rng):
    X = rng.standard_normal((30, 6))
    X[4] = 0.0
    C = sparse.random_array((30, 30), density=0.2, random_state=rng, format="csr")
    ours = TorchDictionary(X, where).relative_residuals(C)
    np.testing.assert_allclose(ours, Dictionary(X).relative_residuals(C), rtol=1e-12)


@pytest.mark.parametrize("eta1", [0.0, 0.1])
def test_an_elastic_net_is_proved_and_that_of_the_cpu(eta1, where, rng):
    X = rng.standard_normal((150, 4)) @ rng.standard_normal((4, 20))
    X += 0.1 * rng.standard_normal(X.shape)
    X /= np.linalg.norm(X, axis=1)[:, None]
    cpu = elastic_net_representation(X, eta1, 0.05)
    ours = elastic_net_representation(
        X, eta1, 0.05, dictionary_of=lambda X: TorchDictionary(X, where)
    )
    assert ours.converged
    assert abs(ours.representation - cpu.representation).max() < 1e-7
