import pickle
from functools import partial

import numba
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from dssc import (
    LRSC,
    LSR,
    S3COMP,
    SSC,
    SSCOMP,
    TSC,
    EnSC,
    clustering_accuracy,
    elastic_net_representation,
    least_squares_representation,
    low_rank_representation,
    make_union_of_subspaces,
    omp_representation,
    s3comp_representation,
    thresholded_similarity,
    unit_norm,
)
from dssc.estimators.base import SubspaceClustering
from dssc.estimators.baseline import BaselineClustering
from dssc.stochastic.eta2_by_neighbors import mean_neighbors
from tests.judge import certify

ZERO_ROWS = "its data hold zero rows, which have no direction and are refused by name"
METHODS = [LRSC, LSR, partial(S3COMP, n_subproblems=4), SSC, SSCOMP, TSC, EnSC]
MANY_PIECES = "ignore:the affinity has .* connected components:UserWarning"


TWO_FEATURES = "its data have two features, where any two samples express all others"


def expected_failures(estimator):
    checks = [
        "estimators_dtypes",
        *(f"estimator_sparse_{kind}" for kind in ("tag", "array", "matrix")),
    ]
    failures = {f"check_{name}": ZERO_ROWS for name in checks}
    if isinstance(estimator, SSCOMP):
        failures["check_clustering"] = TWO_FEATURES
    return failures


@parametrize_with_checks(
    [
        *(make() for make in METHODS),
        LSR(affinity="doubly_stochastic", eta2=0.1),
        EnSC(affinity="doubly_stochastic", eta2=0.1),
    ],
    expected_failed_checks=expected_failures,
)
# One check asks for two clusters from one eigenvector, the constant one.
@pytest.mark.filterwarnings("ignore:Number of distinct clusters:UserWarning")
@pytest.mark.filterwarnings(MANY_PIECES)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(240, n_subspaces=4, noise=0.05, random_state=0)


@pytest.mark.parametrize(
    ("model", "affinity"),
    [
        *((make(4), "symmetric") for make in METHODS if make is not SSCOMP),
        (SSCOMP(4, n_nonzero_coefs=3), "symmetric"),
        # The supports of SSC and SSC-OMP are too small to carry sums of one here.
        *((make(4), "doubly_stochastic") for make in (LRSC, LSR, S3COMP, TSC, EnSC)),
    ],
)
def test_subspaces_are_found(model, affinity, data):
    X, y = data
    model = clone(model).set_params(affinity=affinity, random_state=0)
    assert clustering_accuracy(y, model.fit_predict(X)) > 0.97
    assert model.labels_.dtype.kind == "i"
    assert model.embedding_.shape == (240, 4)
    assert model.n_features_in_ == 20
    assert hasattr(model, "projection_") == hasattr(model, "eta2_") == (affinity != "symmetric")


def dense(C):
    return C.toarray() if sparse.issparse(C) else C


@pytest.mark.parametrize(
    ("model", "express"),
    [
        (LSR(4, gamma=0.3), lambda X: least_squares_representation(X, 0.3)),
        (SSC(4, gamma=20), lambda X: elastic_net_representation(X, 0.0, 0.05).representation),
        (
            EnSC(4, gamma=20, l1_ratio=0.8),
            lambda X: elastic_net_representation(X, 0.01, 0.04).representation,
        ),
        (LRSC(4, tau=30), lambda X: low_rank_representation(X, 30.0, 15.0)),
        (LRSC(4, tau=30, alpha=60), lambda X: low_rank_representation(X, 30.0, 60.0)),
        (TSC(4, n_neighbors=6), lambda X: thresholded_similarity(X, 6).representation),
        (SSCOMP(4, n_nonzero_coefs=4), lambda X: omp_representation(X, 4).representation),
        (
            S3COMP(4, n_nonzero_coefs=3, n_subproblems=6, dropout=0.5, damping=0.2, n_rounds=2),
            lambda X: (
                s3comp_representation(
                    X, 3, n_subproblems=6, dropout=0.5, damping=0.2, n_rounds=2, random_state=0
                ).representation
            ),
        ),
    ],
)
@pytest.mark.filterwarnings(MANY_PIECES)
def test_fitted_attributes_are_the_stages(model, express, data):
    X, _ = data
    model = clone(model).set_params(random_state=0).fit(X)
    C = dense(express(unit_norm(X)))
    np.testing.assert_allclose(dense(model.representation_matrix_), C, atol=1e-9)
    K = (np.abs(C) + np.abs(C).T) / 2
    np.testing.assert_allclose(dense(model.affinity_matrix_), K, atol=1e-9)
    projected = clone(model).set_params(affinity="doubly_stochastic", eta2=0.1).fit(X)
    certify(K, 0.1, projected.projection_, tol=1e-6)
    assert isinstance(projected.affinity_matrix_, sparse.csr_array)
    assert projected.eta2_ == 0.1
    assert projected.n_iter_ == projected.projection_.n_iter


@pytest.mark.parametrize("method", [LSR, EnSC, TSC])
@pytest.mark.filterwarnings(MANY_PIECES)
def test_eta2_is_found_by_the_number_of_neighbours(method, data):
    model = method(4, affinity="doubly_stochastic", n_neighbors=6, random_state=0).fit(data[0])
    assert mean_neighbors(model.affinity_matrix_) == pytest.approx(6, rel=0.02)
    assert model.eta2_ == model.projection_.eta2


def test_sparse_methods_never_make_a_dense_matrix(data):
    for method in METHODS[2:]:
        model = method(4, random_state=0).fit(data[0])
        assert isinstance(model.representation_matrix_, sparse.csr_array)
        assert isinstance(model.affinity_matrix_, sparse.csr_array)
        assert not model.representation_matrix_.diagonal().any()


def test_the_certificate_of_the_self_expression_is_kept(data):
    model = EnSC(4, random_state=0).fit(data[0])
    assert model.expression_.converged
    assert model.expression_.violations.max() <= 1e-8
    assert model.n_iter_ == model.expression_.n_iter.max()
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.labels_, model.labels_)


def test_iterations_are_counted(data):
    X, _ = data
    assert SSCOMP(4, n_nonzero_coefs=3, random_state=0).fit(X).n_iter_ == 3
    assert S3COMP(4, n_subproblems=4, n_rounds=2, random_state=0).fit(X).n_iter_ == 3
    assert LSR(4, random_state=0).fit(X).n_iter_ == 1


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings(MANY_PIECES)
def test_repeatable_whatever_the_threads(method, data, thread_counts):
    labels = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        labels.append(method(4, random_state=0).fit_predict(data[0]))
    np.testing.assert_array_equal(*labels)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings(MANY_PIECES)
def test_repeatable_whatever_the_order_and_the_container(method, data, rng):
    X, _ = data
    model = method(4, random_state=0)
    expected = model.fit_predict(X)
    for container in (pd.DataFrame, sparse.csr_array, sparse.csc_matrix):
        np.testing.assert_array_equal(clone(model).fit_predict(container(X)), expected)
    order = rng.permutation(len(X))
    permuted = clone(model).fit_predict(X[order])
    # Dropout draws other samples when they are renamed, and labels may follow it.
    least = 0.97 if isinstance(model, S3COMP) else 1.0
    assert clustering_accuracy(expected[order], permuted) >= least


@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_kept(method, data):
    X, _ = data
    model = method(4, random_state=0).fit(X.astype(np.float32))
    assert model.representation_matrix_.dtype == np.float32
    assert model.embedding_.dtype == np.float32


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [3, 13])
@pytest.mark.filterwarnings(MANY_PIECES)
def test_few_points(method, n, rng):
    for k in (1, 2, n - 1):
        for affinity in ("symmetric", "doubly_stochastic"):
            X = np.ones(4) + rng.standard_normal((n, 4))
            labels = method(k, affinity=affinity, eta2=0.1, random_state=0).fit_predict(X)
            assert labels.shape == (n,)
            assert labels.max() < k


def test_unfinished_solvers_warn(data):
    # Three hundred points in twelve dimensions: one search is not enough for the sparsest rows.
    X, _ = make_union_of_subspaces(600, n_subspaces=2, dimension=10, noise=0.5, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_iter=1 .*raise"):
        SSC(2, gamma=100, max_iter=1, random_state=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        LSR(4, affinity="doubly_stochastic", eta2=1.0, max_iter=1, random_state=0).fit(data[0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(SSC, gamma=0.5), r"gamma=0\.5 is so small that C is zero; raise gamma"),
        (partial(SSC, gamma=-1.0), r"gamma=-1\.0 must be a positive finite number"),
        (partial(EnSC, l1_ratio=0.0), r"l1_ratio=0\.0"),
        (partial(EnSC, l1_ratio=1.5), r"l1_ratio=1\.5 must be at most 1"),
        (partial(LSR, gamma=np.nan), "gamma=nan"),
        (partial(LRSC, tau=1e-3), r"tau=0\.001 is so small that C is zero; raise tau"),
        (partial(LRSC, tau=0.0), r"tau=0\.0"),
        (partial(LRSC, alpha=-2.0), r"alpha=-2\.0"),
        (partial(TSC, n_neighbors=0), "n_neighbors=0"),
        (partial(SSCOMP, n_nonzero_coefs=0), "n_nonzero_coefs=0"),
        (partial(S3COMP, dropout=1.0), r"dropout=1\.0"),
        (partial(S3COMP, n_subproblems=0), "n_subproblems=0"),
        (partial(S3COMP, n_rounds=-1), "n_rounds=-1"),
        (partial(S3COMP, damping=0.0), r"damping=0\.0"),
        (partial(LSR, affinity="other"), "affinity='other' must be 'symmetric' or 'doubly_sto"),
        (partial(LSR, assign_labels="best"), "assign_labels='best' must be"),
        (partial(LSR, eta2=0.0), r"eta2=0\.0"),
        (partial(LSR, n_clusters=300), "n_samples=240 should be >= n_clusters=300"),
        (partial(LSR, tol=0.0), r"tol=0\.0"),
    ],
)
def test_bad_parameters_are_explained(make, message, data):
    with pytest.raises(ValueError, match=message):
        make().fit(data[0])


def test_zero_rows_and_missing_values_are_refused_by_name():
    for method in METHODS:
        with pytest.raises(ValueError, match=r"1 zero rows.*: 1; remove"):
            method(2).fit(np.array([[1.0, 0.0], [0.0, 0.0], [2.0, 1.0]]))
        with pytest.raises(ValueError, match="NaN"):
            method(2).fit(np.array([[1.0, np.nan], [1.0, 0.0]]))


def test_a_method_must_say_how_it_expresses():
    with pytest.raises(TypeError, match="_express"):
        BaselineClustering()
    with pytest.raises(TypeError, match="fit"):
        SubspaceClustering()


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("affinity", ["symmetric", "doubly_stochastic"])
@pytest.mark.parametrize("method", METHODS)
def test_the_affinity_is_accepted_by_scikit_learn(method, affinity):
    X, y = make_union_of_subspaces(40, random_state=0)
    n_clusters = len(np.unique(y))
    model = method(n_clusters, affinity=affinity, random_state=0).fit(X)
    for matrix in (model.affinity_matrix_, model.representation_matrix_):
        if sparse.issparse(matrix):
            assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    other = SpectralClustering(n_clusters, affinity="precomputed", random_state=0)
    assert len(np.unique(other.fit_predict(model.affinity_matrix_))) == n_clusters
