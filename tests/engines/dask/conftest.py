import numpy as np
import pytest

from dssc import ADSSC

pytest.importorskip("dask.array")
pytest.importorskip("distributed")


def make_points(n, n_features=20):
    """Return points around 4 subspaces of dimension 3, noisy enough for a connected graph."""
    rng = np.random.default_rng(0)
    bases = rng.standard_normal((4, 3, n_features))
    labels = rng.integers(0, 4, n)
    points = np.einsum("ni,nij->nj", rng.standard_normal((n, 3)), bases[labels])
    return points + 0.5 * rng.standard_normal((n, n_features))


def estimator(**parameters):
    return ADSSC(4, **{"eta1": 10.0, "n_neighbors": 20, "random_state": 0, **parameters})


def assert_same_bits(ours, expected):
    for name in ("indptr", "indices", "data"):
        one, other = (getattr(model.affinity_matrix_, name) for model in (ours, expected))
        np.testing.assert_array_equal(one, other)
    for name in ("labels_", "embedding_", "outlier_scores_", "eta2_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))


@pytest.fixture(scope="package", autouse=True)
def matrix_free():
    """Search the pairs of small data, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dssc.engines.cpu.engine.MATRIX_FREE_FROM", 1000)
        yield


@pytest.fixture(scope="package")
def X():
    return make_points(2600)


@pytest.fixture(scope="package")
def expected(X, matrix_free):
    """The fit without Dask."""
    return estimator().fit(X)


@pytest.fixture
def small_chunks(monkeypatch):
    """Several chunks of small data."""
    monkeypatch.setattr("dssc._cluster_rows.CHUNK_BYTES", 1 << 16)


@pytest.fixture(scope="package")
def client():
    """A cluster of two workers in threads of this process."""
    from distributed import Client

    with Client(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as client:
        yield client
