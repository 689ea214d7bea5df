import numpy as np
import pytest

from tests.kernels.inputs import random_graph


@pytest.fixture(params=range(5))
def graph_and_potentials(request):
    rng = np.random.default_rng(request.param)
    return random_graph(rng, int(rng.integers(1, 80)))
