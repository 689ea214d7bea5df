import shutil

import dask.array as da
import numpy as np
import pytest

from dssc.engines.dask import engine as dask_engine
from dssc.engines.dask.checkpoint import claim_folder, key_of
from dssc.stochastic import scan_parts
from tests.engines.dask.conftest import assert_same_bits, estimator


@pytest.fixture(autouse=True)
def without_client(monkeypatch):
    monkeypatch.setattr(dask_engine, "active_client", lambda: None)


@pytest.fixture
def found(monkeypatch):
    """The parts that were computed."""
    names, find = [], scan_parts.find_candidates

    def counted(part, *arguments):
        names.append(part.name)
        return find(part, *arguments)

    monkeypatch.setattr(scan_parts, "find_candidates", counted)
    return names


@pytest.fixture(scope="module")
def complete(X, tmp_path_factory):
    folder = tmp_path_factory.mktemp("complete") / "parts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_engine, "active_client", lambda: None)
        estimator(checkpoint=folder).fit(da.from_array(X))
    return folder


@pytest.fixture
def stored(complete, tmp_path):
    """A folder with the results of a complete fit."""
    return shutil.copytree(complete, tmp_path / "parts")


def parts_in(folder):
    return sorted(folder.glob("*/*.part"))


def test_an_interrupted_fit_goes_on_with_the_same_bits(X, expected, tmp_path, monkeypatch):
    names, find = [], scan_parts.find_candidates

    def interrupted(part, *arguments):
        names.append(part.name)
        if len(names) == 4:
            raise KeyboardInterrupt
        return find(part, *arguments)

    monkeypatch.setattr(scan_parts, "find_candidates", interrupted)
    model, folder = estimator(checkpoint=tmp_path / "parts"), tmp_path / "parts"
    with pytest.raises(KeyboardInterrupt):
        model.fit(da.from_array(X))
    n_stored = len(parts_in(folder))
    assert 0 < n_stored < 4
    assert_same_bits(model.fit(da.from_array(X)), expected)
    n_parts = len(parts_in(folder))
    assert len(names) - 4 == n_parts - n_stored
    assert not list(folder.rglob("*.tmp"))


def test_a_complete_checkpoint_leaves_nothing_to_search(X, expected, stored, found):
    model = estimator(checkpoint=str(stored), n_init=3).fit(da.from_array(X))
    assert not found
    assert model.eta2_ == expected.eta2_


def test_another_eta1_has_its_own_results(X, stored, found):
    n_before = len(parts_in(stored))
    ours = estimator(checkpoint=stored, eta1=1.0).fit(da.from_array(X))
    assert len(found) == len(parts_in(stored)) - n_before > 0
    assert_same_bits(ours, estimator(eta1=1.0).fit(X))


def flip(content):
    content[len(content) // 2] ^= 1


def shorten(content):
    del content[-3:]


def empty(content):
    content.clear()


def beginning(content):
    content[0] ^= 1


@pytest.mark.parametrize("damage", [flip, shorten, empty, beginning])
def test_damaged_files_are_refused_by_name(damage, X, stored):
    path = parts_in(stored)[2]
    content = bytearray(path.read_bytes())
    damage(content)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{path.name}' is damaged: .*delete it and fit again"):
        estimator(checkpoint=stored).fit(da.from_array(X))


def test_a_file_of_another_part_is_refused_by_name(X, stored):
    paths = parts_in(stored)
    paths[3].write_bytes(paths[2].read_bytes())
    with pytest.raises(ValueError, match=rf"{paths[3].name}' belongs to another search or part"):
        estimator(checkpoint=stored).fit(da.from_array(X))


def test_a_folder_of_other_data_is_refused_by_name(X, stored):
    other = X.copy()
    other[5, 5] += 1e-9
    with pytest.raises(ValueError, match=r"parts' belongs to other data; give another folder"):
        estimator(checkpoint=stored).fit(da.from_array(other))


def test_a_folder_with_other_files_is_refused_by_name(tmp_path):
    (tmp_path / "thesis.tex").write_text("", encoding="utf-8")
    with pytest.raises(ValueError, match="holds other files; give an empty or new folder"):
        claim_folder(tmp_path, "key")


def test_a_checkpoint_without_dask_is_refused(X):
    with pytest.raises(ValueError, match="checkpoint='parts' needs X as a Dask array"):
        estimator(checkpoint="parts").fit(X)


def test_a_key_depends_on_content_type_and_parameters(rng):
    X = rng.standard_normal((7, 4))
    other = X.copy()
    other[-1, -1] = np.nextafter(other[-1, -1], 9)
    keys = [key_of(X), key_of(other), key_of(X.astype(np.float32)), key_of(X.reshape(4, 7))]
    keys += [key_of(X, X), key_of(X, parameters=(1,))]
    assert len(set(keys)) == len(keys)
    assert key_of(X) == key_of(X.copy())
