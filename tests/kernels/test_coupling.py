import numpy as np
import pytest
from scipy import sparse

from dssc.kernels import coupling
from dssc.kernels.reference import coupling as reference

SECOND = [0.7, 0.0, 0.0]


@pytest.mark.parametrize("third", [[0.0, 0.0, 0.0], [1.6, 0.0, -0.4]])
def test_entry_values_agree_with_numpy(third, graph_and_potentials, rng):
    (indptr, columns, sizes), _ = graph_and_potentials
    n = len(indptr) - 1
    a, b = 0.5 * rng.standard_normal((2, n))
    last, lines = rng.random(len(columns)), np.array([[1.2, 0.5, -0.6], SECOND, third])
    results = []
    for kernels in (coupling, reference):
        values, slopes, row_sums = np.empty(len(columns)), np.empty(len(columns)), np.empty(n)
        kernels.entry_values(
            indptr, columns, sizes, last, a, b, lines, 0.3, values, slopes, row_sums
        )
        results.append((values, slopes, row_sums))
    for ours, expected in zip(*results, strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-13)


def test_solve_columns_agrees_with_numpy(rng):
    S = sparse.random_array((30, 30), density=0.2, random_state=rng, format="csr")
    S_T = S.T.tocsr()
    by_row, by_column = S.sum(axis=1) + 0.1, S.sum(axis=0) + 0.1
    parts = (S.indptr, S.indices, S.data, S_T.indptr, S_T.indices, S_T.data, by_row, by_column)
    rhs, x, expected = rng.standard_normal(30), np.zeros(30), np.zeros(30)
    coupling.solve_columns(*parts, rhs, 1e-13, 500, x)
    reference.solve_columns(*parts, rhs, 1e-13, 500, expected)
    np.testing.assert_allclose(x, expected, rtol=1e-8)
