from typing import ClassVar

import dask
import dask.array as da
import numpy as np
import pytest

from dssc.engines import engine_for
from dssc.engines.dask import engine as dask_engine
from dssc.engines.dask import workers
from dssc.stochastic.scan_parts import PartResult, find_candidates_alone
from tests.engines.dask.conftest import assert_same_bits, estimator, make_points


def chunked(X, rows=1700):
    return da.from_array(X, chunks=(rows, 7))


def test_without_a_client_the_fit_has_the_same_bits(X, expected):
    with dask.config.set(scheduler="synchronous"):
        assert_same_bits(estimator().fit(chunked(X)), expected)


def test_workers_give_the_same_bits(X, expected, client, capfd):
    model = estimator(verbose=1).fit(chunked(X))
    assert_same_bits(model, expected)
    assert "parts on workers, 0 of them repeated" in capfd.readouterr().err


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


class Damage:
    """Results that change on their way, the first `times` times that a part is computed."""

    times = 0
    parts: ClassVar[list] = []


def find_and_flip_a_bit(meetings, *arguments):
    result = find_candidates_alone(meetings, *arguments)
    Damage.parts.append(meetings[0])
    if Damage.parts.count(meetings[0]) > Damage.times:
        return result
    content = bytearray(result.content)
    content[len(content) // 2] ^= 4
    return PartResult(bytes(content), result.checksum)


@pytest.fixture
def damage(monkeypatch):
    monkeypatch.setattr(workers, "find_candidates_alone", find_and_flip_a_bit)
    monkeypatch.setattr(Damage, "parts", [])
    monkeypatch.setattr(Damage, "times", 1)
    return Damage


def test_a_damaged_result_is_computed_again(X, expected, client, damage, capfd):
    assert_same_bits(estimator(verbose=1).fit(chunked(X)), expected)
    n_parts = len(set(damage.parts))
    assert len(damage.parts) == 2 * n_parts
    message = f"{2 * n_parts} parts on workers, {n_parts} of them repeated"
    assert message in capfd.readouterr().err


def test_results_that_stay_damaged_are_refused(X, client, damage):
    damage.times = workers.ATTEMPTS
    with pytest.raises(RuntimeError, match=r"part .* came back damaged 3 times"):
        estimator().fit(chunked(X))


@pytest.mark.parametrize("device", ["cuda", "torch"])
def test_other_devices_are_refused(device):
    with pytest.raises(ValueError, match=f"device='{device}' cannot be used for a Dask array"):
        engine_for(device, da.ones((5, 2)))


def test_no_client_is_no_error(monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr("distributed.get_client", none)
    assert dask_engine.active_client() is None
