import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from dssc import ADSSC, JDSSC, clustering_accuracy, make_union_of_subspaces
from dssc.joint import solvers

ZERO_ROWS = "its data hold zero rows, which have no direction and are refused by name"


@parametrize_with_checks(
    [JDSSC(n_init=1, alternating_steps=1)],
    expected_failed_checks=lambda estimator: {
        "check_estimators_dtypes": ZERO_ROWS,
        "check_estimator_sparse_tag": ZERO_ROWS,
        "check_estimator_sparse_array": ZERO_ROWS,
        "check_estimator_sparse_matrix": ZERO_ROWS,
    },
)
@pytest.mark.filterwarnings("ignore:Number of distinct clusters:UserWarning")
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(120, n_subspaces=3, noise=0.02, random_state=0)


def test_subspaces_are_found_at_the_certified_optimum(data):
    X, y = data
    model = JDSSC(3, eta2=1.0, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.98
    result = model.projection_
    assert result.gap <= 1e-6
    assert result.converged
    A = model.affinity_matrix_
    assert isinstance(A, sparse.csr_array)
    np.testing.assert_allclose(A.sum(axis=0), 1, atol=1e-8)
    np.testing.assert_allclose(A.sum(axis=1), 1, atol=1e-8)
    assert A.nnz < 0.3 * 120**2
    assert np.all(np.diag(model.representation_matrix_) == 0)
    assert model.objective_history_[-1] == pytest.approx(result.objective, rel=1e-6)
    assert model.embedding_.shape == (120, 3)
    assert model.n_iter_ == result.n_iter


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_the_ways_to_solve_it(data):
    X, _ = data
    optimum = JDSSC(3, random_state=0).fit(X).projection_
    options = {"solver": "linearized-admm", "max_iter": 50}, {"alternating_steps": 2}
    for option in options:
        other = JDSSC(3, random_state=0, **option).fit(X).projection_
        assert other.objective >= optimum.objective * (1 - 1e-8)
        assert other.dual <= optimum.objective * (1 + 1e-8)
    paper = JDSSC(3, random_state=0, solver="linearized-admm", max_iter=50).fit(X)
    assert paper.projection_.marginal_error > 1e-8  # the authors' iterate, and what it lacks
    one = JDSSC(3, eta1=0.5, eta2=0.05, alternating_steps=1, random_state=0).fit(X)
    two = ADSSC(3, eta1=0.5, eta2=0.05, symmetric=False, n_components=3, random_state=0).fit(X)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_single_precision_is_kept(data):
    X, y = data
    model = JDSSC(3, eta2=1.0, tol=1e-4, random_state=0).fit(X.astype(np.float32))
    assert model.representation_matrix_.dtype == np.float32
    assert clustering_accuracy(y, model.labels_) > 0.98


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_falling_short_is_a_warning_with_numbers(data):
    with pytest.warns(ConvergenceWarning, match=r"gap .* wanted tol=1.0e-12; raise max_iter"):
        JDSSC(3, tol=1e-12, max_iter=1, random_state=0).fit(data[0])


def test_too_many_points_are_refused_with_the_number_of_bytes(data, monkeypatch):
    monkeypatch.setattr(solvers, "available_bytes", lambda: 500_000)
    with pytest.raises(MemoryError, match=r"n_samples=120 .* 691200 bytes .* Use ADSSC"):
        JDSSC(3).fit(data[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"eta1": 0}, "eta1=0 must be a positive"),
        ({"eta2": -1.0}, "eta2=-1.0 must be a positive"),
        ({"eta3": -0.1}, "eta3=-0.1 must be a nonnegative"),
        (
            {"solver": "magic"},
            "solver='magic' must be 'auto' or 'splitting' or 'newton' or 'linearized-admm'",
        ),
        ({"alternating_steps": 0}, "alternating_steps=0 must be an integer of at least 1"),
        ({"max_iter": 2.5}, "max_iter=2.5 must be an integer"),
        ({"n_clusters": 500}, "n_samples=120 should be >= n_clusters=500"),
        ({"assign_labels": "x"}, "assign_labels='x' must be"),
    ],
)
def test_bad_parameters(options, message, data):
    with pytest.raises(ValueError, match=message):
        JDSSC(**{"n_clusters": 3, **options}).fit(data[0])


def test_nan_and_zero_rows_are_refused(data):
    X = data[0].copy()
    X[3] = 0
    with pytest.raises(ValueError, match=r"1 zero rows.*: 3"):
        JDSSC(3).fit(X)
    X[3, 0] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        JDSSC(3).fit(X)


@pytest.mark.parametrize(
    "parameters", [{"eta1": 1e-300}, {"eta1": 1e200}, {"eta2": 1e-20}, {"eta2": 1e200}]
)
def test_parameters_beyond_the_arithmetic_are_refused(parameters):
    X, _ = make_union_of_subspaces(30, random_state=0)
    ((name, value),) = parameters.items()
    with pytest.raises(ValueError, match=re.escape(f"{name}={value!r} must be between ")):
        JDSSC(3, **parameters).fit(X)
