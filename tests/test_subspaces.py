import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.subspaces import fit_basis, independent_features, leading_directions, unit_rows


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_dimensions_and_bases_are_those_of_the_truth(noise):
    dimensions = [2, 3, 5]
    X, y = make_union_of_subspaces(
        300, n_subspaces=3, dimension=dimensions, n_features=30, noise=noise, random_state=0
    )
    model = ADSSC(3, random_state=0).fit(X)
    subspaces = model.subspaces()
    for label, basis in enumerate(subspaces.bases):
        truth = np.bincount(y[model.labels_ == label]).argmax()
        assert len(basis) == subspaces.dimensions[label] == dimensions[truth]
        np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-10)
        exact = np.linalg.svd(X[y == truth], full_matrices=False)[2][: dimensions[truth]]
        assert np.linalg.norm(exact - exact @ basis.T @ basis) < 1e-6 + 0.2 * noise
    assert np.all(subspaces.residuals < 1e-6 + 3 * noise)


# The outliers are components of their own.
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_outliers_have_the_largest_scores():
    X, _ = make_union_of_subspaces(300, n_subspaces=3, n_features=40, noise=0.05, random_state=0)
    strange = np.random.default_rng(0).standard_normal((4, 40))
    model = ADSSC(3, random_state=0).fit(np.vstack([X, strange]))
    scores = model.subspaces().outlier_scores
    assert set(np.argsort(scores)[-4:]) == {300, 301, 302, 303}


def test_a_single_point_has_its_own_line():
    point = np.array([[0.6, 0.8]])
    np.testing.assert_allclose(np.abs(fit_basis(point)), point)
    assert fit_basis(np.zeros((0, 2))).shape == (0, 2)


def test_affine_subspaces_have_one_dimension_more():
    X, _ = make_union_of_subspaces(
        200, n_subspaces=2, dimension=2, n_features=20, affine=True, random_state=0
    )
    model = ADSSC(2, affine=True, random_state=0).fit(X)
    subspaces = model.subspaces()
    np.testing.assert_array_equal(subspaces.dimensions, [3, 3])
    assert subspaces.bases[0].shape == (3, 21)
    assert subspaces.residuals.max() < 1e-6


@pytest.mark.parametrize("shape", [(60, 16), (10, 40), (5, 5), (0, 3)])
def test_leading_directions_are_those_of_the_decomposition(rng, shape):
    X = rng.standard_normal(shape)
    directions = leading_directions(X, 7)
    assert directions.shape == (min(7, *shape), shape[1])
    np.testing.assert_allclose(directions @ directions.T, np.eye(len(directions)), atol=1e-10)
    if len(X):
        expected = np.linalg.svd(X, full_matrices=False)[2][:7]
        np.testing.assert_allclose(
            abs(directions[::-1] @ expected.T), np.eye(len(expected)), atol=1e-8
        )


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1e160, 1e300])
def test_rows_of_any_scale_get_norm_one(scale):
    rows = unit_rows(np.array([[3.0, 4.0], [0.0, -2.0]]) * scale)
    np.testing.assert_allclose(
        rows, [[0.6, 0.8], [0.0, -1.0]], rtol=1e-3 if scale < 1e-300 else 1e-14
    )


def test_independent_features_keep_their_distributions():
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(2000, 1)), 3, axis=1) * [1.0, 2.0, 3.0]
    made = independent_features(X, rng)
    expected = unit_rows(rng.normal(size=(2000, 3)) * [1.0, 2.0, 3.0])
    np.testing.assert_allclose(made.std(axis=0), expected.std(axis=0), atol=0.02)
    correlations = np.corrcoef(made.T)[np.triu_indices(3, 1)]
    assert np.all(np.abs(correlations) < 0.1)


def test_independent_features_have_no_copies_and_no_zeros():
    rng = np.random.default_rng(0)
    made = independent_features(rng.integers(0, 2, (100, 3)).astype(float), rng)
    assert len(made) == 7
