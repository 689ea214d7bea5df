import numpy as np
import pytest

from dssc.joint import interior_point
from dssc.joint.interior_point import RowQuadratics
from dssc.kernels import joint
from dssc.kernels.reference import joint as reference
from tests.judge import dykstra
from tests.kernels.inputs import random_graph, row_blocks

both = pytest.mark.parametrize("kernels", [joint, reference], ids=["numba", "numpy"])
dtypes = pytest.mark.parametrize(("dtype", "atol"), [(np.float32, 1e-6), (np.float64, 1e-13)])


@dtypes
def test_linearized_step_agrees_with_numpy(dtype, atol, rng):
    n = 30
    start = rng.random((3, n, n)).astype(dtype)
    gradient = 20 * rng.standard_normal((n, n)).astype(dtype)
    rows, columns = rng.standard_normal((2, n))
    results = []
    for kernels in (joint, reference):
        C_p, C_q, A = start.copy()
        out, row_sums = gradient.copy(), np.empty(n)
        kernels.linearized_step(C_p, C_q, A, rows, columns, 0.02, 0.8, 2.0, 0.3, 0.5, out, row_sums)
        results.append((C_p, C_q, A, out, row_sums / n))
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours, expected, atol=10 * atol)
    assert all(np.any(part == 0) and np.any(part > 0) for part in results[0][:3])


def test_common_blocks_agree_with_numpy(rng):
    indptr, columns, offsets, _ = row_blocks(rng)
    factor = rng.standard_normal((6, 8))
    signs = rng.integers(-1, 2, indptr[-1]).astype(float)
    results = []
    for kernels in (joint, reference):
        blocks, linear = np.empty(offsets[-1]), np.empty(indptr[-1])
        inflation = np.linspace(0.5, 2.0, 6)
        H = factor @ factor.T
        kernels.common_blocks(
            indptr, columns, signs, offsets, H, inflation, 1.5, 0.2, blocks, linear
        )
        results.append((blocks, linear))
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-13)


@both
def test_blocks_are_inverted_and_multiplied(kernels, rng):
    indptr, _, offsets, blocks = row_blocks(rng)
    flat = np.concatenate([b.ravel() for b in blocks])
    diagonal, x = rng.random(indptr[-1]) + 0.1, rng.standard_normal(indptr[-1])
    inverses, products = np.empty_like(flat), np.empty_like(x)
    kernels.invert_blocks(indptr, offsets, flat, diagonal, inverses)
    kernels.block_products(indptr, offsets, inverses, x, products)
    for i, block in enumerate(blocks):
        at = slice(indptr[i], indptr[i + 1])
        whole = block + np.diag(diagonal[at])
        size = len(block)
        inverse = inverses[offsets[i] : offsets[i + 1]].reshape(size, size)
        np.testing.assert_allclose(inverse, np.linalg.inv(whole), rtol=1e-8)
        np.testing.assert_allclose(products[at], np.linalg.solve(whole, x[at]), rtol=1e-8)


@both
def test_column_system_is_the_schur_complement(kernels, rng):
    indptr, columns, offsets, blocks = row_blocks(rng)
    n = len(blocks)
    B = np.zeros((2 * n, indptr[-1]))
    rows = np.repeat(np.arange(n), np.diff(indptr))
    B[rows, np.arange(indptr[-1])] = 1
    B[n + columns, np.arange(indptr[-1])] = 1
    N = np.zeros((indptr[-1], indptr[-1]))
    for i, block in enumerate(blocks):
        N[indptr[i] : indptr[i + 1], indptr[i] : indptr[i + 1]] = block
    S = B @ N @ B.T
    expected = S[n:, n:] - S[n:, :n] @ np.linalg.solve(S[:n, :n], S[:n, n:])
    flat = np.concatenate([b.ravel() for b in blocks])
    v = N @ np.ones(indptr[-1])
    out = np.zeros((n, n))
    totals = np.bincount(rows, v, n)
    kernels.column_system(indptr, columns, offsets, flat, v, totals, out)
    np.testing.assert_allclose(np.tril(out), np.tril(expected), atol=1e-10)


@dtypes
def test_candidates_agree_with_numpy(dtype, atol, rng):
    z = rng.standard_normal((40, 40)).astype(dtype)
    rows, columns = 0.3 * rng.standard_normal((2, 40)) - 0.4
    results = []
    for kernels in (joint, reference):
        counts = np.zeros(41, dtype=np.int64)
        kernels.count_candidates(z, rows, columns, 0.5, counts[1:])
        indptr = np.cumsum(counts)
        out = np.full(indptr[-1], -1)
        kernels.list_candidates(z, rows, columns, 0.5, indptr, out)
        results.append((indptr, out))
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, expected)
    assert 40 < results[0][0][-1] < 1600


@dtypes
def test_coupling_step_agrees_with_numpy(dtype, atol, rng):
    (indptr, columns, values), _ = random_graph(rng, 40)
    z = rng.standard_normal((40, 40)).astype(dtype)
    out, expected = np.empty_like(z), np.empty_like(z)
    for kernels, target in ((joint, out), (reference, expected)):
        kernels.coupling_step(z, indptr, columns, values, 0.7, 1.3, 0.9, 0.2, target)
    np.testing.assert_allclose(out, expected, atol=atol)


@pytest.mark.parametrize("warm", [False, True])
def test_with_unit_quadratics_it_is_the_projection(warm, rng):
    n = 12
    K = rng.random((n, n))
    indptr, offsets = np.arange(n + 1) * n, np.arange(n + 1) * n * n
    blocks = np.tile(np.eye(n).ravel(), n)
    problem = RowQuadratics(indptr, np.tile(np.arange(n), n), offsets, blocks, K.ravel() / 0.3)
    start = interior_point.solve(problem, None, 1e-2) if warm else None
    solution = interior_point.solve(problem, start, 1e-12)
    np.testing.assert_allclose(solution.z.reshape(n, n), dykstra(K / 0.3), atol=1e-7)
    slope = solution.z - K.ravel() / 0.3
    potentials = np.repeat(solution.a, n) + np.tile(solution.b, n)
    np.testing.assert_allclose(slope, potentials + solution.reduced, atol=1e-8)
    assert np.all(solution.reduced >= 0)
