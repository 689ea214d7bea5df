"""Faults of the system: killed processes, full disks, little memory, no home, many threads."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from dssc.cli.exits import OutputError

resource = pytest.importorskip("resource", reason="this system has no limits of processes")

pytestmark = pytest.mark.slow

# Replaces a file over and over, each time by another byte repeated.
WRITER = """
import sys
from itertools import cycle
from pathlib import Path
from dssc.cli.writing import write_all
path, size = Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for number in cycle(range(1, 256)):
    write_all({path: bytes([number]) * size}, force=True)
"""
SIZE = 20_000_000

THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
import dssc
def fit(seed):
    X, _ = dssc.make_union_of_subspaces(600, n_subspaces=3, random_state=seed)
    model = dssc.ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0).fit(X)
    joint = dssc.JDSSC(3, random_state=0).fit(X[:60])
    return model.labels_.tobytes(), model.affinity_matrix_.data.tobytes(), joint.labels_.tobytes()
with ThreadPoolExecutor(8) as pool:
    together = list(pool.map(fit, range(8)))
assert together == [fit(seed) for seed in range(8)]
print("the same")
"""

MEMORY = """
import resource
import numpy as np, dssc
from dssc import _memory
X = np.random.default_rng(0).standard_normal((20_000, 5))
model = dssc.{name}(3)
used = _memory._reported_bytes(_memory.STATUS, "VmSize:")
resource.setrlimit(resource.RLIMIT_AS, (used + 500_000_000, resource.RLIM_INFINITY))
try:
    model.fit(X)
except MemoryError as error:
    print(error)
"""


def python(code, *arguments, timeout=300, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def command(*arguments, limit_files=None, **environment):
    """Run the command, perhaps with a limit on the size of the files that it writes."""

    def limits():
        if limit_files is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit_files, limit_files))

    return subprocess.run(
        [sys.executable, "-m", "dssc", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        preexec_fn=limits,
    )


@pytest.fixture
def table(tmp_path):
    X = np.random.default_rng(0).standard_normal((60, 6))
    np.savetxt(tmp_path / "table.csv", X, delimiter=",")
    return tmp_path / "table.csv"


@pytest.mark.parametrize("seed", range(15))
def test_a_killed_process_leaves_the_old_file_or_the_new_one(seed, tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"\0" * SIZE)
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), str(SIZE)], stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(np.random.default_rng(seed).uniform(0.0, 0.15))
        writer.send_signal(signal.SIGKILL)
    content = path.read_bytes()
    assert len(content) == SIZE
    assert content == content[:1] * SIZE


def test_a_file_that_does_not_fit_is_not_written(table, tmp_path):
    output = tmp_path / "labels.csv"
    arguments = ("cluster", table, "-k3", "--method", "tsc", "-o", output)
    failed = command(*arguments, limit_files=50, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    check_refused(failed, output)
    output.write_text("old", encoding="utf-8")
    failed = command(*arguments, "--force", limit_files=50, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    check_refused(failed, output, "old")


def check_refused(done, output, content=None):
    """Check that a command failed in one line and left its output as it was."""
    assert done.returncode == OutputError.code, done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"dssc: error: cannot write {output}: "), done.stderr
    assert "Traceback" not in done.stderr
    assert (output.read_text(encoding="utf-8") if output.exists() else None) == content
    assert not list(output.parent.glob("*.part"))


@pytest.fixture
def full_disk(tmp_path):
    """Yield a folder on a disk of 64 kB that has no space left."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("a small disk can be mounted by root only")
    (folder / "labels.csv").write_text("old", encoding="utf-8")
    with suppress(OSError), (folder / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_keeps_the_old_file(table, full_disk):
    output = full_disk / "labels.csv"
    done = command("cluster", table, "-k3", "--method", "tsc", "-o", output, "--force")
    check_refused(done, output, "old")


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs the files of Linux")
@pytest.mark.parametrize("name", ["LSR", "JDSSC"])
def test_too_little_memory_is_an_error_that_says_how_much_is_needed(name):
    done = python(MEMORY.format(name=name), OPENBLAS_NUM_THREADS="1", NUMBA_NUM_THREADS="1")
    assert done.returncode == 0, done.stderr
    assert "n_samples=20000 needs about" in done.stdout, done.stdout + done.stderr


def test_without_a_home_the_command_works(table, tmp_path):
    nowhere = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), "/dev/null")
    output = tmp_path / "labels.csv"
    done = command("cluster", table, "-k3", "-o", output, **nowhere)
    assert done.returncode == 0, done.stderr
    assert len(output.read_text(encoding="utf-8").splitlines()) == 61


@pytest.mark.parametrize("layer", ["default", "workqueue"])
def test_eight_threads_at_once_give_the_same_as_one_after_the_other(layer):
    done = python(THREADS, NUMBA_THREADING_LAYER=layer, NUMBA_NUM_THREADS="2", timeout=600)
    assert done.stdout == "the same\n", done.stderr
