import numpy as np
import pytest

from dssc import least_squares_representation, make_union_of_subspaces, unit_norm
from dssc.out_of_sample.expression import NewPointExpression


def in_sample_order(expression, X):
    """Return the coefficients of new points, one column per sample, and their own h_xx."""
    u, own = expression(X)
    h = np.empty((len(u), len(expression.order)))
    h[:, expression.order] = u @ expression.vectors.T
    return h, own


@pytest.mark.parametrize("n_features", [20, 400])
@pytest.mark.parametrize("eta1", [0.1, 10.0])
def test_new_points_are_expressed_as_ridge_regression_says(n_features, eta1):
    X, _ = make_union_of_subspaces(90, n_features=n_features, noise=0.2, random_state=0)
    X, new = unit_norm(X[:80]), unit_norm(X[80:])
    h, own = in_sample_order(NewPointExpression(X, eta1), new)
    G = np.linalg.inv(X.T @ X + eta1 * np.eye(n_features))
    np.testing.assert_allclose(h, new @ G @ X.T, atol=1e-10)
    np.testing.assert_allclose(own, np.einsum("ij,jk,ik->i", new, G, new), atol=1e-10)


@pytest.mark.parametrize("n_features", [20, 400])
def test_a_new_point_has_the_coefficients_of_one_more_sample(n_features):
    X, _ = make_union_of_subspaces(81, n_features=n_features, noise=0.2, random_state=0)
    X = unit_norm(X)
    expression = NewPointExpression(X[:80], 1.0)
    h, own = in_sample_order(expression, X[80:])
    remainders = np.empty(80)
    remainders[expression.order] = 1.0 - expression.leverages
    C = least_squares_representation(X, 1.0)
    np.testing.assert_allclose(h[0], C[80, :80], atol=1e-10)
    by_others = h[0] / ((1.0 + own[0]) * remainders + h[0] ** 2)
    np.testing.assert_allclose(by_others, C[:80, 80], atol=1e-10)
