"""Workers that search on a torch device; here that of the processor."""

import numpy as np
import pytest

from dssc.stochastic.scan_parts import Part, find_candidates
from tests.engines.dask.conftest import assert_same_bits, estimator
from tests.engines.dask.test_engine import chunked

torch = pytest.importorskip("torch")
device_parts = pytest.importorskip("dssc.engines.dask.device_parts")


def vectors_and_weights(rng, n_points, n_kinds):
    """Return vectors of small integers, whose products have no rounding, and random weights."""
    vectors = rng.integers(-3, 4, (n_points, 24)).astype(np.float32)
    return vectors, rng.random((n_kinds, 4, n_points)).astype(np.float32)


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("n_kinds", [1, 2])
def test_candidates_are_those_of_the_processor(signed, n_kinds, rng):
    n_points = 4 * 512 + 100  # the last block is short
    vectors, weights = vectors_and_weights(rng, n_points, n_kinds)
    meetings = np.array([[2, 0, 1], [2, 2, 3], [3, 0, 2], [3, 1, 4], [4, 0, 4]], np.int32)
    blocks = [slice(512 * b, min(n_points, 512 * (b + 1))) for b in range(5)]
    thresholds = {
        b: rng.uniform(30, 60, (n_kinds, blocks[b].stop - blocks[b].start)).astype(np.float32)
        for b in range(5)
    }
    part = Part("a part", meetings, thresholds, 9, 20, signed)
    sources = lambda b: vectors[blocks[b]], lambda b: weights[:, :, blocks[b]].copy()
    expected = find_candidates(part, *sources).candidates(len(meetings), n_kinds)
    found = device_parts.find_candidates_on_device(part, *sources, "torch")
    for ours, theirs in zip(found.candidates(len(meetings), n_kinds), expected, strict=True):
        assert ours.counts.sum() > 100
        for one, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(one, other)


def test_other_precisions_are_not_used_and_come_back():
    usual = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with device_parts.single_precision():
            assert torch.get_float32_matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(usual)


def test_the_affinity_is_that_of_the_processor(X, expected, client, small_chunks):
    """For one eta2, solved far beyond what is compared: lists may differ, and so may the path."""
    parameters = {"eta2": expected.eta2_, "n_neighbors": None, "tol": 1e-12}
    ours = estimator(device="torch", **parameters).fit(chunked(X))
    theirs = estimator(**parameters).fit(X)
    assert ours.projection_.status.startswith("converged")
    assert abs(ours.affinity_matrix_ - theirs.affinity_matrix_).max() < 1e-10
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_array_equal(ours.stability(2).clusters, theirs.stability(2).clusters)


@pytest.mark.slow
def test_one_worker_and_two_give_the_same_bits(X):
    from distributed import Client

    models = []
    for n_workers in (1, 2):
        with Client(n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"):
            models.append(estimator(device="torch").fit(chunked(X, 900)))
    assert_same_bits(*models)
