import numpy as np
import pytest
from scipy import linalg

from dssc.expression.substitution import DIAGONAL, Substitution


@pytest.mark.parametrize("size", [1, DIAGONAL, DIAGONAL + 1, 300])
@pytest.mark.parametrize("eta1", [1.0, 1e-8])
def test_products_of_solutions_are_exact(size, eta1, rng):
    """Judged in extended precision, also where the matrix is nearly singular."""
    X = rng.standard_normal((400, 20)) @ rng.standard_normal((20, size)) / size
    L = linalg.cholesky(X.T @ X + eta1 * np.eye(size), lower=True)
    wide, exact = L.astype(np.longdouble), X[:30].astype(np.longdouble)
    for k in range(size):
        exact[:, k] = (exact[:, k] - exact[:, :k] @ wide[k, :k]) / wide[k, k]
    solved = Substitution(L)(X[:30].copy())
    expected = (exact @ exact.T).astype(np.float64)
    np.testing.assert_allclose(solved @ solved.T, expected, rtol=0.0, atol=1e-15)
    np.testing.assert_allclose(solved @ L.T, X[:30], rtol=0.0, atol=1e-15)
