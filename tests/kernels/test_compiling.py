import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import dssc
from dssc import kernels
from dssc.kernels import compiling
from tests.kernels.inputs import random_graph

CACHE_PROBE = """
import json, numpy as np
from dssc import kernels, project_doubly_stochastic
project_doubly_stochastic(np.random.default_rng(0).random((300, 300)), 0.1)
kernels = [getattr(f, "threaded", f) for f in vars(kernels).values()]
dispatchers = [f for f in kernels if hasattr(f, "stats")]
print(json.dumps(sum(sum(f.stats.cache_misses.values()) for f in dispatchers)))
"""


def test_one_thread_and_two_give_the_same_bits(thread_counts, rng):
    graph, w = random_graph(rng, 500, density=0.05)
    outcomes = []
    for n_threads in thread_counts:
        numba.set_num_threads(n_threads)
        sums, squares, x = np.empty(500), np.empty(500), np.empty(500)
        kernels.row_sums(*graph, w, sums, squares, np.empty(500, dtype=np.int64))
        kernels.solve_pattern(graph[0], graph[1], 1.01 * np.diff(graph[0]), w, 1e-10, 99, x)
        outcomes.append((sums, squares, x))
    for one, two in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, two)


def test_small_arrays_are_left_to_one_thread(thread_counts, monkeypatch):
    monkeypatch.setattr(compiling, "ELEMENTS_PER_THREAD", 1000)
    numba.set_num_threads(thread_counts[-1])
    for n_elements, n_threads in ((0, 1), (999, 1), (1000, 2), (10**9, 2)):
        with compiling.threads_for_elements(n_elements):
            assert numba.get_num_threads() == n_threads
        assert numba.get_num_threads() == 2
    monkeypatch.setattr(compiling, "TEAM", 1)
    with compiling.threads_for_elements(10**9):
        assert numba.get_num_threads() == 1


def test_a_second_process_does_not_compile_again(tmp_path):
    def misses():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", CACHE_PROBE]
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        return json.loads(done.stdout)

    assert misses() > 0
    assert misses() == 0


# Runs one kernel, which is quick to compile.
HEAP_PROBE = """
import warnings, numpy as np
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from dssc.kernels.heap import sift_down
    values = np.array([3.0, 1.0, 2.0])
    sift_down(values, np.arange(3), 0, 3)
assert values.tolist() == [1.0, 3.0, 2.0]
print(sum(sift_down.stats.cache_hits.values()), *(f"{w.filename}: {w.message}" for w in caught))
"""


def run_heap_probe(**environment):
    done = subprocess.run(
        [sys.executable, "-c", HEAP_PROBE],
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform == "win32", reason="its folder for caches cannot be set")
def test_without_a_writable_cache_there_is_one_warning(tmp_path):
    shutil.copytree(Path(dssc.__file__).parent, tmp_path / "dssc")
    shutil.rmtree(tmp_path / "dssc" / "kernels" / "__pycache__", ignore_errors=True)
    # Folders that no user can create, not even root.
    (tmp_path / "dssc" / "kernels" / "__pycache__").write_text("", encoding="utf-8")
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR"), "/dev/null")
    output = run_heap_probe(PYTHONPATH=str(tmp_path), **nowhere)
    assert output.startswith("0 <string>: compiled code cannot be stored (no folder is writable)")
    assert "set NUMBA_CACHE_DIR to a writable folder. See https://" in output
    assert len(output.splitlines()) == 1
    assert output.count("cannot be stored") == 1


@pytest.fixture(scope="module")
def filled_cache(tmp_path_factory):
    """Return a folder with the compiled code of the probe."""
    folder = tmp_path_factory.mktemp("cache")
    assert run_heap_probe(NUMBA_CACHE_DIR=str(folder)) == "0"
    return folder


def test_compiling_is_announced_once(tmp_path):
    setup = "from dssc.kernels.compile_cache import before_compiling\n"
    setup += "before = before_compiling(lambda: print('compiling'))\nbefore.__enter__()\n"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for expected in ("compiling\n0", "1"):
        command = [sys.executable, "-c", setup + HEAP_PROBE]
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        assert done.stdout.strip() == expected


@pytest.mark.parametrize("kind", ["*.nbi", "*.nbc"])
@pytest.mark.parametrize("damage", ["noise", "half", "changed byte"])
def test_a_damaged_cache_is_replaced(filled_cache, tmp_path, kind, damage):
    shutil.copytree(filled_cache, tmp_path, dirs_exist_ok=True)
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)}
    (path,) = [path for path in tmp_path.rglob(kind) if "sift_down" in path.name]
    content = bytearray(path.read_bytes())
    if damage == "changed byte":
        content[-len(content) // 3] ^= 255
    path.write_bytes({"noise": b"noise", "half": content[: len(content) // 2]}.get(damage, content))
    assert run_heap_probe(**environment) == "0"
    assert run_heap_probe(**environment) == "1"


def test_an_undamaged_cache_is_used(filled_cache):
    assert run_heap_probe(NUMBA_CACHE_DIR=str(filled_cache)) == "1"


# Several Python threads in one parallel kernel at once.
THREADS_PROBE = """
import threading, numba, numpy as np
from dssc import kernels
from tests.kernels.inputs import random_graph
graph, w = random_graph(np.random.default_rng(0), 2000, density=0.05)
def run():
    sums, x, counts = np.empty(2000), np.empty(2000), np.empty(2000, dtype=np.int64)
    for _ in range(50):
        kernels.row_sums(*graph, w, sums, x, counts)
        kernels.solve_pattern(graph[0], graph[1], 1.01 * np.diff(graph[0]), w, 0.1, 3, x)
threads = [threading.Thread(target=run) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(numba.threading_layer())
"""


def test_a_layer_that_is_not_threadsafe_is_entered_in_turn():
    """Numba ends the process if two threads are in it at once."""
    environment = {"NUMBA_THREADING_LAYER": "workqueue", "NUMBA_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", THREADS_PROBE],
        env={**os.environ, **environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "workqueue\n", done.stderr
