import numpy as np
from scipy import sparse

from dssc.kernels import coupling as kernels


def test_conjugate_gradients_against_a_factorisation(rng):
    S = sparse.random_array((20, 20), density=0.2, random_state=rng, format="csr")
    S_T = S.T.tocsr()
    by_row, by_column = S.sum(axis=1) + 0.1, S.sum(axis=0) + 0.1
    rhs = rng.standard_normal(20)
    x = np.zeros(20)
    parts = (S.indptr, S.indices, S.data, S_T.indptr, S_T.indices, S_T.data)
    kernels.solve_columns(*parts, by_row, by_column, rhs, 1e-13, 500, x)
    dense = S.toarray()
    system = np.diag(by_column) - dense.T @ np.diag(1 / by_row) @ dense
    np.testing.assert_allclose(x, np.linalg.solve(system, rhs), rtol=1e-8)
