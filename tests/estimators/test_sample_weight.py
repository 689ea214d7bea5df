"""Weights of samples: one of weight m counts as m copies that do not express each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from dssc import ADSSC, GraphClustering, clustering_accuracy, make_union_of_subspaces
from dssc import project_doubly_stochastic as project
from dssc.engines.cpu import engine as cpu_engine
from dssc.estimators.copies import spread_plan
from dssc.features import DistinctRows
from tests.judge import as_dense


def expressed_copies(X, counts, eta1):
    """Return the point of every copy, and the self-expression of copies by other points' copies."""
    of_copy = np.repeat(np.arange(len(X)), counts)
    rows = (X / np.linalg.norm(X, axis=1, keepdims=True))[of_copy]
    C = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        others = np.flatnonzero(of_copy != of_copy[i])
        products = rows[others] @ row
        if np.isfinite(eta1):
            gram = rows[others] @ rows[others].T + eta1 * np.eye(len(others))
            products = linalg.solve(gram, products, assume_a="pos")
        C[i, others] = products
    return of_copy, C


def sums_of_copies(matrix, of_copy):
    members = np.zeros((of_copy.max() + 1, len(of_copy)))
    members[of_copy, np.arange(len(of_copy))] = 1.0
    return members @ matrix @ members.T


@pytest.fixture
def matrix_free(monkeypatch):
    monkeypatch.setattr(cpu_engine, "MATRIX_FREE_FROM", 10)


def check_against_copies(shape, eta1, eta2, symmetric, signed, rng):
    X, counts = rng.standard_normal(shape), rng.integers(1, 4, shape[0])
    mean = counts.mean()
    of_copy, C = expressed_copies(X, counts, eta1)
    K = np.maximum(C, 0.0) if signed else np.abs(C)
    result = project((K + K.T) / 2 if symmetric else K, eta2, tol=1e-11)
    model = ADSSC(
        2,
        eta1=eta1,
        # The similarities do not depend on the weights if eta1 is infinite.
        eta2=eta2 / mean if np.isinf(eta1) else eta2,
        symmetric=symmetric,
        signed=signed,
        tol=1e-11,
        random_state=0,
    ).fit(X, sample_weight=counts)
    assert model.projection_.converged
    expected = sums_of_copies(as_dense(result.plan), of_copy) / mean
    np.testing.assert_allclose(as_dense(model.affinity_matrix_), expected, atol=1e-8)
    ours = as_dense(model.representation_matrix_)
    totals = sums_of_copies(C, of_copy) / counts[:, None]
    known = ours != 0
    scale = mean if np.isinf(eta1) else 1.0
    np.testing.assert_allclose(ours[known], totals[known] / scale, atol=1e-8)
    return model, counts


CASES = [
    ((40, 12), 1.0, 0.3, True, True),
    ((12, 30), 0.1, 0.3, True, False),
    ((40, 12), 0.1, 0.05, False, False),
    ((30, 6), np.inf, 2.0, True, True),
]


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
@pytest.mark.parametrize("case", CASES)
def test_integer_weights_are_copies_that_do_not_express_each_other(case, rng):
    check_against_copies(*case, rng)


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("eta1", [0.5, np.inf])
def test_they_are_the_same_without_a_matrix(eta1, symmetric, matrix_free, rng):
    check_against_copies((60, 6), eta1, 0.05, symmetric, False, rng)


def test_rows_of_the_affinity_sum_to_the_weights_over_their_mean(rng):
    X, _ = make_union_of_subspaces(120, random_state=0)
    weights = rng.exponential(size=120) + 0.01
    model = ADSSC(3, random_state=0).fit(X, sample_weight=weights)
    A = model.affinity_matrix_
    np.testing.assert_allclose(A.sum(axis=1), weights / weights.mean(), rtol=1e-7)
    np.testing.assert_allclose(as_dense(A), as_dense(A).T, atol=1e-12)
    # X is expressed by the sums over copies.
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert np.abs(X - as_dense(model.representation_matrix_) @ X).max() < 0.5


def test_eigenvectors_are_those_of_all_copies(rng):
    X, _ = make_union_of_subspaces(60, noise=0.3, random_state=0)
    counts = rng.integers(1, 4, 60)
    model = ADSSC(3, eta1=1.0, eta2=0.1, n_components=3, random_state=0)
    model.fit(X, sample_weight=counts)
    of_copy, C = expressed_copies(X, counts, 1.0)
    A = as_dense(project((np.abs(C) + np.abs(C.T)) / 2, 0.1).plan)
    vectors = np.linalg.eigh(A)[1][:, -3:]
    ours = (model.embedding_ / np.sqrt(counts)[:, None])[of_copy]
    assert linalg.subspace_angles(ours, vectors).max() < 1e-5


@pytest.mark.parametrize("method", ["kmeans", "cluster_qr"])
def test_labels_are_those_of_all_copies(method, rng):
    X, y = make_union_of_subspaces(150, random_state=1)
    weights = rng.integers(1, 6, 150)
    model = ADSSC(3, assign_labels=method, random_state=0).fit(X, sample_weight=weights)
    assert clustering_accuracy(y, model.labels_) == 1.0


@pytest.mark.parametrize("eta1", [None, 1.0])
def test_weights_of_one_are_no_weights(eta1):
    X, _ = make_union_of_subspaces(200, noise=0.2, random_state=0)
    model = ADSSC(3, eta1=eta1, random_state=0)
    plain = model.fit(X)
    results = plain.labels_, as_dense(plain.affinity_matrix_), plain.embedding_, plain.eta1_
    ones = model.fit(X, sample_weight=np.ones(200))
    for before, now in zip(
        results,
        (ones.labels_, as_dense(ones.affinity_matrix_), ones.embedding_, ones.eta1_),
        strict=True,
    ):
        np.testing.assert_array_equal(now, before)


@settings(max_examples=4, deadline=None)
@given(seed=st.integers(0, 1000), factor=st.sampled_from([0.25, 3.0, 1e-6, 1e6]))
def test_only_ratios_of_weights_matter_if_eta1_is_chosen_or_scaled(seed, factor):
    X, _ = make_union_of_subspaces(90, noise=0.2, random_state=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, 90)
    for eta1 in (None, 2.0, np.inf):
        one = ADSSC(3, eta1=eta1, random_state=0).fit(X, sample_weight=weights)
        scaled = None if eta1 is None else eta1 * factor
        other = ADSSC(3, eta1=scaled, random_state=0).fit(X, sample_weight=factor * weights)
        np.testing.assert_allclose(
            as_dense(other.affinity_matrix_), as_dense(one.affinity_matrix_), atol=1e-6
        )
        assert other.eta1_ == pytest.approx(factor * one.eta1_) or np.isinf(one.eta1_)
    again = ADSSC(3, eta1=one.eta1_, n_neighbors=12, signed=one.signed_, random_state=0)
    assert again.fit(X, sample_weight=weights).eta1_ == one.eta1_


def test_candidates_and_explanation_state_eta1_for_the_weights():
    X, _ = make_union_of_subspaces(90, noise=0.2, random_state=0)
    weights = np.random.default_rng(0).uniform(1.0, 5.0, 90)
    for affine in (False, True):
        model = ADSSC(3, affine=affine, random_state=0).fit(X, sample_weight=weights)
        assert model.candidates_[0].eta1 == model.eta1_
        assert f"eta1={model.eta1_:.3g}" in model.explanation_


def test_samples_of_weight_zero_are_as_if_absent(rng):
    X, _ = make_union_of_subspaces(120, noise=0.1, random_state=0)
    weights = rng.uniform(0.5, 2.0, 120)
    weights[::5] = 0.0
    kept = weights > 0
    model = ADSSC(3, random_state=0).fit(X, sample_weight=weights)
    alone = ADSSC(3, random_state=0).fit(X[kept], sample_weight=weights[kept])
    np.testing.assert_array_equal(model.labels_[kept], alone.labels_)
    assert np.all(model.labels_[~kept] == -1)
    np.testing.assert_array_equal(model.predict(X), alone.predict(X))
    assert model.affinity_matrix_[~kept].nnz == 0
    np.testing.assert_array_equal(model.distinct_rows_, np.flatnonzero(kept))


def test_weights_of_copies_are_added_up(rng):
    X, _ = make_union_of_subspaces(80, noise=0.1, random_state=0)
    repeated = np.concatenate([X, 2 * X[:30]])
    weights = rng.uniform(0.5, 2.0, 110)
    model = ADSSC(3, eta1=1.0, random_state=0).fit(repeated, sample_weight=weights)
    total = weights[:80].copy()
    total[:30] += weights[80:]
    merged = ADSSC(3, eta1=1.0, random_state=0).fit(X, sample_weight=total)
    np.testing.assert_array_equal(model.labels_[:80], merged.labels_)
    np.testing.assert_array_equal(model.labels_[80:], merged.labels_[:30])
    sums = np.asarray(model.affinity_matrix_.sum(axis=1)).ravel()
    np.testing.assert_allclose(sums, weights / (weights.sum() / 80), rtol=1e-7)
    A = sums_of_copies(
        as_dense(model.affinity_matrix_)[np.ix_(*[np.argsort(np.r_[:80, :30], kind="stable")] * 2)],
        np.sort(np.r_[:80, :30]),
    )
    np.testing.assert_allclose(A, as_dense(merged.affinity_matrix_), atol=1e-9)


def test_too_many_pairs_of_copies_are_refused_with_a_remedy(monkeypatch):
    rows = DistinctRows(np.array([0]), np.zeros(50, dtype=int), np.ones(50))
    monkeypatch.setattr("dssc.estimators.copies.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match="keep one sample of each point"):
        spread_plan(sparse.csr_array([[1.0]]), rows, np.full(50, 0.02))


def test_equal_rows_with_equal_weights_take_eta1_per_weight():
    X, _ = make_union_of_subspaces(90, noise=0.2, random_state=0)
    two = ADSSC(3, eta1=2.0, n_neighbors=12, random_state=0).fit(X, sample_weight=np.full(90, 2.0))
    one = ADSSC(3, eta1=1.0, n_neighbors=12, random_state=0).fit(X)
    np.testing.assert_array_equal(as_dense(two.affinity_matrix_), as_dense(one.affinity_matrix_))
    assert two.eta1_ == 2.0


@pytest.mark.parametrize("shape", [(60, 8), (20, 40)])
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("eta1", [0.5, np.inf])
def test_a_new_point_gets_the_row_it_would_have_beside_all_copies(eta1, symmetric, shape, rng):
    X, counts = rng.standard_normal(shape), rng.integers(1, 4, shape[0])
    new, mean = rng.standard_normal(shape[1]), counts.mean()
    model = ADSSC(
        2, eta1=eta1, eta2=0.2, symmetric=symmetric, signed=False, assign_labels="cluster_qr"
    ).fit(X, sample_weight=counts)
    potentials = model.projection_.potentials[1]
    w = counts / mean
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    x = new / np.linalg.norm(new)
    # The new point counts as one point of mean weight, among points of weight w.
    if np.isinf(eta1):
        k = np.abs(U @ x)
    else:
        all_rows, p = np.vstack([U, x]), np.append(w, 1.0)
        G = np.linalg.inv(all_rows.T @ (p[:, None] * all_rows) + eta1 / mean * np.eye(shape[1]))
        h = all_rows @ G @ all_rows.T
        C = np.abs(h) / (1 - p * np.diag(h))[:, None]
        k = (C[-1, :-1] + C[:-1, -1]) / 2 if symmetric else C[-1, :-1]

    def excess(t):
        own = max(-2 * t, 0.0) if symmetric else 0.0
        return w @ np.maximum(k - potentials - t, 0) + own - 0.2

    low, high = -10.0, 10.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    row = w * np.maximum(k - potentials - low, 0) / 0.2
    expected = np.bincount(model.labels_, row, minlength=2)
    np.testing.assert_allclose(model.transform(new[None])[0], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(7), r"shape \(60,\); its shape is \(7,\)"),
        (np.ones((60, 1)), r"its shape is \(60, 1\)"),
        (np.where(np.arange(60) == 4, -2.0, 1.0), r"sample_weight\[4\]=-2.0 must be a nonnegative"),
        (np.where(np.arange(60) == 9, np.nan, 1.0), r"sample_weight\[9\]=nan"),
        (np.where(np.arange(60) == 9, np.inf, 1.0), r"sample_weight\[9\]=inf"),
        (np.zeros(60), "zero for all samples"),
        (np.where(np.arange(60) == 0, 1e9, 1.0), r"from 1 to 1e\+09"),
        (np.where(np.arange(60) < 2, 1.0, 0.0), "only 2 of 60 rows"),
        (["heavy"] * 60, "holds text that is not a number"),
    ],
)
@pytest.mark.parametrize("estimator", [ADSSC(3), GraphClustering(3, affinity="nearest_neighbors")])
def test_bad_weights_are_named(estimator, weights, words):
    X, _ = make_union_of_subspaces(60, random_state=0)
    with pytest.raises(ValueError, match=words):
        estimator.fit(X, sample_weight=weights)
    assert not hasattr(estimator, "labels_")


def test_what_takes_no_weights_says_so():
    X, _ = make_union_of_subspaces(60, random_state=0)
    weights = np.arange(1.0, 61.0)
    with pytest.raises(ValueError, match=r"sample_weight needs eta3=0, not eta3=0\.1"):
        ADSSC(3, eta3=0.1).fit(X, sample_weight=weights)
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="sample_weight runs on the CPU only"):
        ADSSC(3, device="torch").fit(X, sample_weight=weights)
    model = ADSSC(3, random_state=0).fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="no proof is known for points with different weights"):
        model.separation()
    assert "cluster" in str(model.summary())


def test_dask_arrays_take_weights():
    da = pytest.importorskip("dask.array")
    X, _ = make_union_of_subspaces(200, random_state=0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 200)
    ours = ADSSC(3, random_state=0).fit(da.from_array(X, chunks=50), sample_weight=weights)
    expected = ADSSC(3, random_state=0).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(ours.labels_, expected.labels_)


def test_a_warm_start_notices_other_weights():
    X, _ = make_union_of_subspaces(90, noise=0.2, random_state=0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    for eta1 in (None, 1.0):
        warm = ADSSC(3, eta1=eta1, warm_start=True, random_state=0).fit(X)
        warm.fit(X, sample_weight=weights)
        cold = ADSSC(3, eta1=eta1, random_state=0).fit(X, sample_weight=weights)
        np.testing.assert_array_equal(
            as_dense(warm.affinity_matrix_), as_dense(cold.affinity_matrix_)
        )


def test_other_numbers_of_clusters_count_weights():
    X, _ = make_union_of_subspaces(90, noise=0.2, random_state=0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 90)
    model = ADSSC(3, random_state=0).fit(X, sample_weight=weights)
    assert len(np.unique(model.labels_for(5))) == 5
    assert model.explore([2, 3]).eigenvalues[0] == pytest.approx(1.0)
    X, _ = make_union_of_subspaces(150, random_state=0)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 150)
    assert ADSSC(None, random_state=0).fit(X, sample_weight=weights).n_clusters_ == 3


def test_weights_are_routed_as_scikit_learn_does():
    X, _ = make_union_of_subspaces(90, noise=0.2, random_state=0)
    weights = np.random.default_rng(0).integers(0, 3, 90).astype(float)
    with config_context(enable_metadata_routing=True):
        model = ADSSC(3, random_state=0).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(Normalizer(), model).fit(X, sample_weight=weights)
    assert np.all(pipeline[-1].labels_[weights == 0] == -1)
    by_name = ADSSC(3, random_state=0).fit_predict(X, sample_weight=weights)
    assert np.all(by_name[weights == 0] == -1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_graph_takes_weights_as_copies(make, rng):
    K, counts = rng.uniform(0.1, 1.0, (25, 25)) ** 2, rng.integers(1, 4, 25)
    K = (K + K.T) / 2
    of_copy = np.repeat(np.arange(25), counts)
    mean = counts.mean()
    model = GraphClustering(2, eta2=0.5 / mean, self_loops=True, tol=1e-11, random_state=0)
    A = as_dense(model.fit(make(K), sample_weight=counts).affinity_matrix_)
    copies = GraphClustering(2, eta2=0.5, self_loops=True, tol=1e-11, random_state=0)
    expected = as_dense(copies.fit(make(K[np.ix_(of_copy, of_copy)])).affinity_matrix_)
    np.testing.assert_allclose(A, sums_of_copies(expected, of_copy) / mean, atol=1e-8)
    new = rng.uniform(0.1, 1.0, (3, 25)) ** 2
    np.testing.assert_allclose(model.transform(make(new)).sum(axis=1), 1.0, atol=0.5)


@pytest.mark.parametrize("affinity", ["nearest_neighbors", "precomputed"])
def test_vertices_of_weight_zero_are_as_if_absent(affinity, rng):
    X = np.concatenate([rng.normal(c, 0.3, (30, 2)) for c in (0, 4)])
    if affinity == "precomputed":
        X = np.exp(-np.square(X[:, None] - X).sum(axis=2))
    weights = np.ones(60)
    weights[[3, 40]] = 0.0
    model = GraphClustering(2, affinity=affinity, random_state=0).fit(X, sample_weight=weights)
    assert model.labels_[3] == model.labels_[40] == -1
    assert clustering_accuracy(np.arange(60)[weights > 0] < 30, model.labels_[weights > 0]) == 1.0
