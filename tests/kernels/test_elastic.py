import numba
import numpy as np
import pytest

from dssc.kernels import elastic
from dssc.kernels.reference import elastic as reference

N, N_CANDIDATES, TOL = 25, 14, 1e-12


@pytest.fixture
def X(rng):
    X = rng.standard_normal((N, 20)) + 0.5
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.fixture
def candidates(rng):
    """Two rounds of candidates that share no sample; the first of each is left out."""
    order = np.array([rng.permutation(np.delete(np.arange(N), i)) for i in range(N)])
    order[:, ::N_CANDIDATES] = -1
    return order[:, :N_CANDIDATES], order[:, N_CANDIDATES:]


def solve(kernels, X, inner, candidates, etas, solution):
    """Solve and return residuals, violations and which rows fit; `solution` is overwritten."""
    capacity, n_threads = solution[0].shape[1], numba.get_num_threads()
    residuals, violations, fits = np.empty(X.shape), np.empty(N), np.empty(N, dtype=bool)
    kernels.solve_rows(
        X,
        inner,
        np.arange(N),
        candidates,
        *etas,
        1e-11,
        TOL,
        np.empty((n_threads, capacity, capacity)),
        np.empty((n_threads, capacity, capacity)),
        np.empty((n_threads, 5, capacity)),
        np.empty((n_threads, 2, capacity), dtype=np.int64),
        np.empty((n_threads, candidates.shape[1])),
        *solution,
        residuals,
        violations,
        fits,
    )
    return residuals, violations, fits


def no_solution(capacity):
    sizes = np.zeros(N, dtype=np.int64)
    return np.zeros((N, capacity), dtype=np.int32), np.zeros((N, capacity)), sizes


def dense_rows(support, coefficients, sizes):
    C = np.zeros((N, N))
    for i, size in enumerate(sizes):
        C[i, support[i, :size]] = coefficients[i, :size]
    return C


@pytest.mark.parametrize("etas", [(0.0, 0.1), (0.1, 0.05), (2.0, 0.01)])
@pytest.mark.parametrize("has_inner", [True, False])
def test_solve_rows_agrees_with_coordinate_descent(etas, has_inner, X, candidates):
    inner = X @ X.T if has_inner else np.empty((0, 0))
    solutions = no_solution(N), no_solution(N)
    for part in candidates:
        results = []
        for kernels, solution in zip((elastic, reference), solutions, strict=True):
            residuals, violations, fits = solve(kernels, X, inner, part, etas, solution)
            assert fits.all()
            assert violations.max() <= 10 * TOL
            results.append((dense_rows(*solution), residuals))
        for ours, expected in zip(*results, strict=True):
            np.testing.assert_allclose(ours, expected, atol=1e-9)
        assert np.count_nonzero(results[0][0]) > N


def test_rows_with_more_nonzeros_than_capacity_do_not_fit(X, candidates):
    for kernels in (elastic, reference):
        _, _, fits = solve(kernels, X, X @ X.T, candidates[0], (2.0, 0.01), no_solution(3))
        assert not fits.any()
