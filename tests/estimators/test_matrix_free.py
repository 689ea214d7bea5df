import os
import pickle
import subprocess
import sys
from functools import partial

import numba
import numpy as np
import pytest
from scipy import linalg, sparse
from threadpoolctl import threadpool_info

import dssc
from dssc import (
    ADSSC,
    clustering_accuracy,
    least_squares_representation,
    make_union_of_subspaces,
    unit_norm,
)
from dssc.engines import CpuEngine
from dssc.engines.cpu import MatrixExpression, engine
from dssc.engines.cpu.self_expression import FactoredExpression
from dssc.stochastic import scan


@pytest.fixture
def matrix_free(monkeypatch):
    monkeypatch.setattr(engine, "MATRIX_FREE_FROM", 2)
    monkeypatch.setattr(scan, "TILE", 128)


@pytest.fixture(scope="module")
def data():
    return make_union_of_subspaces(600, n_subspaces=4, noise=0.05, random_state=0)


def as_matrix(X, eta1, symmetric, signed, progress, weights):
    C = least_squares_representation(unit_norm(X.astype(np.float64)), eta1, weights)
    return MatrixExpression(C, symmetric, signed, weights)


def as_factor(X, eta1, symmetric, signed, progress, weights):
    return FactoredExpression(X, eta1, symmetric, signed, progress, weights=weights)


def both_forms(X, monkeypatch, **options):
    """Fit with the self-expression as a matrix, then factored, whatever the size of X."""
    models = []
    for form in (as_matrix, as_factor):
        monkeypatch.setattr(CpuEngine, "express", lambda self, *a, form=form: form(*a))
        models.append(ADSSC(random_state=0, **options).fit(X))
    return models


def assert_same(dense, free):
    assert_same_matrices(dense, free)
    assert clustering_accuracy(dense.labels_, free.labels_) == 1.0


def assert_same_matrices(dense, free):
    for matrix in (dense.affinity_matrix_, free.affinity_matrix_, free.representation_matrix_):
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32
    difference = dense.affinity_matrix_ - free.affinity_matrix_
    assert np.abs(difference.data).max(initial=0.0) <= 1e-6
    held = free.representation_matrix_.tocoo()
    np.testing.assert_allclose(
        held.data, dense.representation_matrix_[held.row, held.col], rtol=1e-5, atol=1e-8
    )


@pytest.mark.parametrize("make", [np.asarray, np.float32, sparse.csr_array])
@pytest.mark.parametrize(
    "options",
    [
        {"eta1": 1.0, "n_neighbors": 8},
        {"eta2": 0.01},
        {"eta2": 0.01, "symmetric": False},
        {"eta2": 0.01, "signed": True},
        {"eta1": np.inf, "n_neighbors": 8, "signed": True},
        {"eta1": np.inf, "n_neighbors": 8, "symmetric": False},
    ],
)
def test_both_forms_give_the_same(make, options, data, monkeypatch):
    X = make(data[0])
    assert_same(*both_forms(X, monkeypatch, n_clusters=4, **options))


@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
@pytest.mark.parametrize(
    ("load", "n_clusters", "options"),
    [
        (dssc.fetch_orl, 40, {"eta1": 1.0, "eta2": 0.05}),
        (dssc.fetch_umist, 20, {"eta1": 0.5, "eta2": 0.05}),
        (dssc.fetch_yaleb, 38, {"eta1": 0.5, "eta2": 0.1}),
        (partial(dssc.fetch_coil, n_objects=40), 40, {"eta1": 25.0, "eta2": 0.001}),
    ],
)
def test_both_forms_give_the_same_on_real_data(load, n_clusters, options, data_home, monkeypatch):
    """k-means can settle elsewhere after a change of 1e-8, so its input is compared instead."""
    X, _ = load(return_X_y=True)
    dense, free = both_forms(X, monkeypatch, n_clusters=n_clusters, **options)
    assert_same_matrices(dense, free)
    rotation, _ = linalg.orthogonal_procrustes(dense.embedding_, free.embedding_)
    np.testing.assert_allclose(dense.embedding_ @ rotation, free.embedding_, atol=1e-6)


def test_both_forms_place_stray_points_the_same(monkeypatch):
    X, _ = make_union_of_subspaces(600, n_subspaces=6, noise=0.02, random_state=1)
    with pytest.warns(UserWarning, match="connected components"):
        dense, free = both_forms(X, monkeypatch, n_clusters=3, eta1=0.1, n_neighbors=3)
    assert_same(dense, free)


def test_large_data_are_expressed_without_a_matrix(monkeypatch):
    X, y = make_union_of_subspaces(4200, n_subspaces=3, random_state=0)
    monkeypatch.setattr(engine, "MatrixExpression", None)
    model = ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1.0
    assert sparse.issparse(model.representation_matrix_)
    assert model.projection_.converged
    assert {"factor", "scan", "projection", "eigenvectors", "labels"} <= set(model.timings_)


def test_one_thread_and_two_give_the_same(matrix_free, thread_counts, data):
    fits = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        fits.append(ADSSC(4, eta2=0.01, random_state=0).fit(data[0]))
    one, two = fits
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(
        one.affinity_matrix_.toarray(), two.affinity_matrix_.toarray(), atol=1e-12
    )


def test_a_warm_start_searches_once(matrix_free, data, monkeypatch):
    X, _ = data
    searches = []
    search = engine.largest_similarities
    monkeypatch.setattr(engine, "largest_similarities", lambda *a: searches.append(1) or search(*a))
    model = ADSSC(4, eta1=1.0, eta2=0.01, n_neighbors=12, warm_start=True, random_state=0).fit(X)
    assert len(searches) == 1
    for changes in ({"eta2": 0.02}, {"eta2": 0.005}, {"n_clusters": 5}, {"eta2": None}):
        model.set_params(**changes).fit(X)
        assert len(searches) == 1
        fresh = ADSSC(**{**model.get_params(), "warm_start": False}).fit(X)
        searches.pop()
        difference = model.affinity_matrix_ - fresh.affinity_matrix_
        if model.eta2 is not None:  # otherwise the search for eta2 may stop at another value
            assert np.abs(difference.data).max(initial=0.0) <= 1e-7
    X = X.copy()
    X[0] *= -2.0
    model.fit(X)
    assert len(searches) == 2
    model.set_params(eta1=3.0).fit(X)
    assert len(searches) == 3


def test_what_a_warm_start_keeps_is_not_pickled(matrix_free, data):
    model = ADSSC(4, warm_start=True, random_state=0).fit(data[0])
    size = len(pickle.dumps(model))
    again = pickle.loads(pickle.dumps(model)).fit(data[0])
    np.testing.assert_array_equal(again.labels_, model.labels_)
    assert size < 3 * len(pickle.dumps(ADSSC(4, random_state=0).fit(data[0])))


def test_a_warm_start_finds_near_pairs_when_they_are_asked_for(matrix_free, data, monkeypatch):
    monkeypatch.setattr("dssc.estimators.adssc.MATRIX_FREE_FROM", 100)
    cold = ADSSC(4, eta1=1.0, eta2=0.01, random_state=0).fit(data[0])
    warm = ADSSC(4, eta1=1.0, eta2=0.02, warm_start=True, random_state=0).fit(data[0])
    warm.set_params(eta2=0.01).fit(data[0])
    assert "near pairs" in cold.timings_
    assert "near pairs" not in warm.timings_
    expected = cold.separation()
    for model in (warm, pickle.loads(pickle.dumps(warm.fit(data[0])))):
        found = model.separation()
        np.testing.assert_array_equal(found.proved, expected.proved)
        np.testing.assert_allclose(found.mass, expected.mass, atol=1e-8)


def test_an_interruption_leaves_the_last_fit_and_the_threads_as_they_were(
    matrix_free, data, monkeypatch
):
    X, _ = data
    model = ADSSC(4, warm_start=True, random_state=0).fit(X)
    labels = model.labels_
    n_threads = [pool["num_threads"] for pool in threadpool_info()]

    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(scan, "shorten", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X[:500])
    assert model.labels_ is labels
    assert [pool["num_threads"] for pool in threadpool_info()] == n_threads
    assert len(model.fit(X[:500]).labels_) == 500


def test_progress_is_shown_when_asked_for(matrix_free, data, capsys):
    ADSSC(4, eta2=0.01, verbose=1, random_state=0).fit(data[0])
    shown = capsys.readouterr().err
    for stage in ("factor", "scan", "projection", "eigenvectors", "labels"):
        assert f"{stage}: " in shown
    assert "Gflop/s" in shown


LIMITED = """
import resource, sys
import numpy as np
import dssc
warm = np.random.default_rng(1).standard_normal((5000, 20))
dssc.ADSSC(2, random_state=0).fit(warm)  # compiles, and starts the threads
X = np.load(sys.argv[1], mmap_mode="r")
for line in open("/proc/self/status"):
    if line.startswith("VmData:"):
        used = 1024 * int(line.split()[1])
limit = used + int(0.8 * X.nbytes)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
try:
    np.array(X)
    sys.exit("the limit does not limit")
except MemoryError:
    pass
labels = dssc.ADSSC(3, eta1=1.0, n_neighbors=12, random_state=0).fit_predict(X)
np.save(sys.argv[2], labels)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on a process's memory")
def test_a_memory_map_larger_than_memory_is_clustered(tmp_path):
    X, y = make_union_of_subspaces(
        40_000, n_features=1000, n_subspaces=3, noise=0.01, random_state=0
    )
    np.save(tmp_path / "X.npy", X)
    command = [sys.executable, "-c", LIMITED, tmp_path / "X.npy", tmp_path / "labels.npy"]
    # Every thread holds blocks of its own, so their number must not be that of the machine.
    threads = {"NUMBA_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    subprocess.run(command, check=True, env={**os.environ, **threads})
    assert clustering_accuracy(y, np.load(tmp_path / "labels.npy")) == 1.0
