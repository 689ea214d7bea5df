import numpy as np

from dssc.kernels import graph
from dssc.kernels.reference import graph as reference


def test_chebyshev_step_agrees_with_numpy(graph_and_potentials, rng):
    (indptr, indices, data), w = graph_and_potentials
    x, y = rng.standard_normal((2, len(w), 3))
    out, expected = np.empty_like(x), np.empty_like(x)
    for kernels, target in ((graph, out), (reference, expected)):
        kernels.chebyshev_step(indptr, indices, data, x, y, 1.3, -0.2, 0.7, target)
    np.testing.assert_allclose(out, expected, atol=1e-13)
