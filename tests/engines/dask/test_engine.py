from collections import Counter
from typing import ClassVar

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import get_worker

from dssc._cluster_rows import ClusterRows
from dssc._progress import Progress
from dssc.engines import engine_for
from dssc.engines.dask import engine as dask_engine
from dssc.engines.dask import factor, reading, workers
from dssc.engines.dask.factor import part_in_chunks
from dssc.engines.dask.source import check_source
from dssc.expression import LeastSquaresFactor
from dssc.stochastic import FactoredSimilarity
from dssc.stochastic.bounded_similarity import Area
from dssc.stochastic.panels import read_panels
from dssc.stochastic.scan_parts import Part, PartResult
from tests.engines.dask.conftest import assert_same_bits, estimator, make_points


def chunked(X, rows=1700):
    return da.from_array(X, chunks=(rows, 7))


def test_without_a_client_the_fit_has_the_same_bits(X, expected):
    with dask.config.set(scheduler="synchronous"):
        assert_same_bits(estimator().fit(chunked(X)), expected)


def test_workers_give_the_same_bits_and_say_what_they_did(
    X, expected, client, small_chunks, capsys
):
    model = estimator(verbose=1).fit(chunked(X))
    assert_same_bits(model, expected)
    assert model.work_["tasks"] >= 4
    assert model.work_["tasks repeated"] == 0
    assert 0 < model.work_["bytes received"] < X.nbytes * 10
    assert model.work_["bytes between workers"] > X.nbytes / 4
    assert f"{model.work_['tasks']} tasks, 0 of them repeated" in capsys.readouterr().err


@pytest.mark.parametrize(
    "parameters",
    [{"affine": True, "eta1": np.inf}, pytest.param({"symmetric": False}, marks=pytest.mark.slow)],
)
def test_workers_give_the_same_bits_for_other_points_and_models(parameters, client):
    X = make_points(2600)
    X[17] = X[2500]  # a copy
    X[99] = np.nan
    parameters = {"invalid_rows": "label", **parameters}
    ours = estimator(**parameters).fit(chunked(X))
    assert len(ours.distinct_rows_) == 2598
    assert_same_bits(ours, estimator(**parameters).fit(X))


def test_parameters_are_chosen_as_on_one_machine(client, monkeypatch):
    monkeypatch.setattr("dssc.selection.search.LARGEST_WHOLE", 2000)
    X = make_points(2200)
    ours, expected = (estimator(eta1=None, n_neighbors=None).fit(one) for one in (chunked(X), X))
    assert ours.explanation_ == expected.explanation_ != ""
    assert_same_bits(ours, expected)


def test_small_data_are_fitted_as_on_one_machine():
    X = make_points(60)
    assert_same_bits(estimator().fit(chunked(X, 25)), estimator().fit(X))


class Shares:
    """The workers that computed parts."""

    addresses: ClassVar[list] = []


def part_of_worker(part, *arguments):
    Shares.addresses.append(get_worker().address)
    return part_in_chunks(part, *arguments)


def test_workers_get_equal_shares_of_a_search(X, expected, client, small_chunks, monkeypatch):
    monkeypatch.setattr(factor, "part_in_chunks", part_of_worker)
    monkeypatch.setattr(Shares, "addresses", [])
    assert_same_bits(estimator().fit(chunked(X)), expected)
    counts = Counter(Shares.addresses)
    assert counts.keys() == client.nthreads().keys()
    assert min(counts.values()) >= sum(counts.values()) // 3


class Damage:
    """Results that change on their way, the first `times` times that a part is computed."""

    times = 0
    parts: ClassVar[list] = []


def find_and_flip_a_bit(part, *arguments):
    result = part_in_chunks(part, *arguments)
    Damage.parts.append(part.name)
    if Damage.parts.count(part.name) > Damage.times:
        return result
    content = bytearray(result.content)
    content[len(content) // 2] ^= 4
    return PartResult(bytes(content), result.checksum)


@pytest.fixture
def damage(monkeypatch):
    monkeypatch.setattr(factor, "part_in_chunks", find_and_flip_a_bit)
    monkeypatch.setattr(Damage, "parts", [])
    monkeypatch.setattr(Damage, "times", 1)
    return Damage


def test_a_damaged_result_is_computed_again(X, expected, client, damage):
    model = estimator().fit(chunked(X))
    assert_same_bits(model, expected)
    n_parts = len(set(damage.parts))
    assert len(damage.parts) == 2 * n_parts
    assert model.work_["tasks repeated"] == n_parts


def test_results_that_stay_damaged_are_refused(X, client, damage):
    damage.times = workers.ATTEMPTS
    with pytest.raises(RuntimeError, match=r"'scan .*' came back damaged 3 times"):
        estimator().fit(chunked(X))


@pytest.mark.parametrize("device", ["cuda:1", "gpu"])
def test_other_devices_are_refused(device):
    with pytest.raises(ValueError, match=f"device='{device}' cannot be used for a Dask array"):
        engine_for(device, da.ones((5, 2)))


def test_no_client_is_no_error(monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr("distributed.get_client", none)
    assert dask_engine.active_client() is None


def test_products_and_rows_from_the_workers_have_the_bits_of_one_machine(X, client, small_chunks):
    rng, progress = np.random.default_rng(0), Progress()
    here = LeastSquaresFactor(X, 3.0)
    samples = ClusterRows(check_source(chunked(X)))
    there = factor.ClusterFactor(workers.Workers(client), samples, 3.0, progress)
    rows, columns = rng.integers(0, len(X), (2, 900))
    np.testing.assert_array_equal(there.norms, here.norms)
    np.testing.assert_array_equal(there.products(rows, columns), here.products(rows, columns))
    for places in (np.arange(32), rng.integers(0, len(X), 40)):
        np.testing.assert_array_equal(there.vectors[places], here.vectors[places])
        np.testing.assert_array_equal(there.product_rows(places), here.product_rows(places))


def from_disk(array):
    """Return an array as Dask reads it from disk: not aligned, and not to be written."""
    read = np.frombuffer(b"x" + array.tobytes(), array.dtype, array.size, 1).reshape(array.shape)
    assert not read.flags.aligned
    return read


@pytest.mark.parametrize("is_first", [True, False])
def test_parts_from_disk_have_the_same_bits(is_first, rng):
    vectors = rng.standard_normal((1024, 300)).astype(np.float32)
    weights = np.ones((1, 4, 1024), np.float32)
    meetings = np.array([[1, 0, 0], [1, 1, 1]] if is_first else [[2, 0, 1]], np.int32)
    thresholds = {} if is_first else {b: np.full((1, 512), 30.0, np.float32) for b in (0, 1)}
    found = []
    for place in (lambda array: array, from_disk):
        part = Part("a part", meetings, {b: place(t) for b, t in thresholds.items()}, 9, 20, False)
        found.append(part_in_chunks(part, [0], 1024, None, place(vectors), place(weights)).content)
    assert found[0] == found[1]


@pytest.mark.parametrize("place", [np.asarray, from_disk])
def test_rows_are_taken_from_any_chunk(place, rng):
    chunk = rng.standard_normal((40, 7)).astype(np.float32)
    for rows in (rng.integers(0, 40, 60), np.arange(0)):
        found = factor.rows_at(rows, place(chunk))
        np.testing.assert_array_equal(found, chunk[rows])
        assert found.flags.aligned


def test_products_from_disk_have_the_same_bits(rng):
    halves = rng.standard_normal((4, 50, 37)).astype(np.float32)
    places = rng.integers(0, 50, (2, 300)).astype(np.int32)
    shifted = [from_disk(half) for half in halves]
    found = [factor.products_of_chunks(places, *these).content for these in (halves, shifted)]
    assert found[0] == found[1]


def test_labels_by_cluster_qr_are_the_same(X, client, small_chunks):
    ours = estimator(assign_labels="cluster_qr").fit(chunked(X))
    np.testing.assert_array_equal(
        ours.labels_, estimator(assign_labels="cluster_qr").fit(X).labels_
    )


def test_new_points_and_stability_need_no_array(X, expected, client):
    ours = estimator().fit(chunked(X))
    np.testing.assert_array_equal(ours.predict(X[:50] + 0.1), expected.predict(X[:50] + 0.1))
    np.testing.assert_array_equal(
        ours.predict_proba(chunked(X[:50] + 0.1)).compute(), expected.predict_proba(X[:50] + 0.1)
    )
    np.testing.assert_array_equal(ours.stability(2).clusters, expected.stability(2).clusters)


def test_a_model_is_complete_before_dask_pickles_it(X, expected, client, monkeypatch):
    """Dask pickles under a lock that its own thread may wait for: nothing may be fetched then."""
    placed = estimator().fit(chunked(X)).predict(chunked(X[:50]))
    monkeypatch.setattr(ClusterRows, "in_memory", None)
    np.testing.assert_array_equal(placed.compute(), expected.labels_[:50])


def test_weights_give_the_same_bits(client, small_chunks):
    """With a group of blocks that is not the first, a copy and a sample of weight zero."""
    X = make_points(9000)
    X[17] = X[2500]
    weights = np.random.default_rng(1).integers(1, 5, len(X)).astype(float)
    weights[8999] = 0.0
    ours, expected = (estimator().fit(one, sample_weight=weights) for one in (chunked(X), X))
    assert ours.labels_[8999] == -1
    assert_same_bits(ours, expected)


def test_separation_needs_no_second_search(X, client, small_chunks, monkeypatch):
    monkeypatch.setattr("dssc.estimators.adssc.MATRIX_FREE_FROM", 1000)
    ours, expected = (estimator().fit(one) for one in (chunked(X), X))
    monkeypatch.setattr(ClusterRows, "in_memory", None)  # X stays where it is
    np.testing.assert_array_equal(ours.separation().margins, expected.separation().margins)


@pytest.mark.parametrize("signed", [False, True])
def test_pairs_are_read_again_by_the_workers(signed, X, client, small_chunks, monkeypatch):
    monkeypatch.setattr("dssc.stochastic.factored_similarity.SPAN", 512)
    monkeypatch.setattr(reading, "SPAN", 512)
    progress, rng = Progress(), np.random.default_rng(0)
    here = LeastSquaresFactor(X, 3.0)
    there = factor.ClusterFactor(
        workers.Workers(client), ClusterRows(check_source(chunked(X))), 3.0, progress
    )
    potentials = 2 * (rng.random(len(X)) * 1e-3,)
    area = Area(rng.random(len(X)) < 0.9, rng.random(len(X)) < 0.9, "rows")
    pairs = []
    for one, reader in ((here, read_panels), (there, reading.ClusterReader(there))):
        similarity = FactoredSimilarity(one, True, signed, reader=reader)
        similarity.bounds = 2 * (np.full(len(X), 1e-2),)
        monkeypatch.setattr(factor.RemoteRows, "__getitem__", None)  # none comes here
        read = similarity.area_above(area, potentials)
        pairs.append(np.unique(np.concatenate(list(read), axis=1), axis=1))
    np.testing.assert_array_equal(*pairs)
    assert 1000 < pairs[0].shape[1] < 0.7 * len(X) ** 2


def test_an_affinity_that_does_not_fit_is_refused(X, client, monkeypatch):
    monkeypatch.setattr("dssc.stochastic.similarity.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"doubly stochastic matrix would hold about .* bytes"):
        estimator(eta2=0.1, n_neighbors=None).fit(chunked(X))
