import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dssc.features.cache import cached


class Counter:
    """Computes an array and counts how often."""

    def __init__(self, value):
        self.value = value
        self.calls = 0

    def __call__(self):
        self.calls += 1
        return np.full(3, self.value)


@pytest.fixture
def home(tmp_path):
    return tmp_path / "cache"


def get(home, compute, inputs=(1.0,), **parameters):
    return cached("toy", compute, inputs=np.array(inputs), parameters=parameters, cache_home=home)


def test_computed_once_for_the_same_content_and_parameters(home):
    compute = Counter(7.0)
    first, second = get(home, compute, k=1), get(home, compute, k=1)
    assert compute.calls == 1
    np.testing.assert_array_equal(first, second)
    get(home, compute, k=2)
    get(home, compute, inputs=(2.0,), k=1)
    assert compute.calls == 3


def test_shape_and_type_are_part_of_the_content(home):
    compute = Counter(1.0)
    for inputs in (np.zeros((2, 3)), np.zeros((3, 2)), np.zeros((2, 3), dtype=np.int64)):
        cached("toy", compute, inputs=inputs, parameters={}, cache_home=home)
    assert compute.calls == 3


def test_a_file_that_another_process_has_open_stays(home, monkeypatch):
    def replace(source, target):  # as on Windows
        Path(target).write_bytes(b"of the other process")
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr("dssc.features.cache.os.replace", replace)
    np.testing.assert_array_equal(get(home, Counter(7.0)), 7.0)
    assert [path.read_bytes() for path in home.iterdir()] == [b"of the other process"]


@pytest.mark.parametrize("damage", [b"", b"noise", None])
def test_a_damaged_file_is_computed_again_with_a_warning(damage, home):
    compute = Counter(7.0)
    get(home, compute)
    (path,) = home.glob("*.npy")
    path.write_bytes(path.read_bytes()[:-9] if damage is None else damage)
    with pytest.warns(UserWarning, match=r"toy-.*\.npy is damaged") as record:
        np.testing.assert_array_equal(get(home, compute), 7.0)
    assert record[0].filename == __file__
    np.testing.assert_array_equal(get(home, compute), 7.0)
    assert compute.calls == 2


def test_a_failure_leaves_nothing_behind(home):
    def fail():
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        get(home, fail)
    assert not home.exists() or not list(home.iterdir())
    with pytest.raises(ValueError, match="allow_pickle"):
        get(home, lambda: np.array([object()]))
    assert not list(home.iterdir())


def test_the_environment_names_the_folder(home, monkeypatch):
    monkeypatch.setenv("DSSC_CACHE", str(home))
    get(None, Counter(1.0))
    assert len(list(home.glob("toy-*.npy"))) == 1


RACE = """
import sys, time, numpy as np
from dssc.features.cache import cached
def compute():
    time.sleep(0.3)
    return np.arange(200_000.0)
result = cached("race", compute, inputs=np.zeros(2), parameters={}, cache_home=sys.argv[1])
assert result.sum() == 200_000 * 199_999 / 2
"""


def test_two_processes_at_once_do_no_harm(home):
    command = [sys.executable, "-c", RACE, str(home)]
    processes = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(60) for process in processes] == [0, 0]
    (path,) = home.iterdir()
    assert len(np.load(path)) == 200_000


def test_a_folder_that_cannot_be_written_is_done_without(tmp_path):
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    compute = Counter(7.0)
    with pytest.warns(UserWarning, match=r"cannot be written \(.*set DSSC_CACHE to a writable"):
        np.testing.assert_array_equal(get(tmp_path / "file" / "cache", compute), 7.0)


def test_a_missing_home_is_done_without(monkeypatch):
    def no_home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("DSSC_CACHE", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.warns(UserWarning, match="set DSSC_CACHE to a writable folder"):
        np.testing.assert_array_equal(get(None, Counter(7.0)), 7.0)


def refuse(path, **options):
    raise PermissionError(13, "Permission denied", str(path))
