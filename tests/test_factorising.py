import numpy as np
import pytest
from scipy import sparse

from dssc._factorising import DenseFactor, symmetric_factor


@pytest.mark.parametrize(("density", "is_dense"), [(0.01, False), (0.5, True)])
def test_solutions_agree_with_numpy(density, is_dense, rng):
    S = rng.random((80, 80)) < density / 2
    matrix = sparse.csr_array((S | S.T) + np.diag(80.0 + rng.random(80)))
    factor = symmetric_factor(matrix)
    assert isinstance(factor, DenseFactor) == is_dense
    rhs = rng.standard_normal(80)
    np.testing.assert_allclose(
        factor.solve(rhs), np.linalg.solve(matrix.toarray(), rhs), rtol=1e-12, atol=1e-15
    )
