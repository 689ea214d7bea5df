import numpy as np
import pytest

from dssc.joint import interior_point
from dssc.joint.interior_point import RowQuadratics
from dssc.kernels._numba import joint as kernels
from tests.judge import dykstra


@pytest.fixture
def problem(rng):
    sizes = np.array([3, 1, 5, 2, 4, 5])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    columns = np.concatenate([np.sort(rng.choice(6, size, replace=False)) for size in sizes])
    blocks = [(lambda B: B @ B.T)(rng.standard_normal((size, size))) for size in sizes]
    offsets = np.concatenate([[0], np.cumsum(sizes**2)])
    return indptr, columns, offsets, blocks


def test_blocks_are_inverted_and_multiplied(problem, rng):
    indptr, _, offsets, blocks = problem
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


def test_column_system_is_the_schur_complement(problem, rng):
    indptr, columns, offsets, blocks = problem
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
