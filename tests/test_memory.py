import ctypes
import struct
import subprocess
import sys
from types import SimpleNamespace

import pytest

from dssc import _memory
from dssc._memory import available_bytes, peak_bytes

# In a process of its own: what other tests left behind may be collected at any moment.
MEASUREMENT = """
import numpy as np
from dssc._memory import reset_peak, peak_bytes
large = np.ones(1 << 24)  # 128 MB
del large
reset_peak()
before = peak_bytes()
medium = np.ones(1 << 23)
print(before, peak_bytes() - before)
"""


def test_the_peak_is_that_since_the_reset():
    if peak_bytes() is None:
        pytest.skip("this system does not report peak memory")
    command = [sys.executable, "-c", MEASUREMENT]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, grown = map(int, done.stdout.split())
    size = 8 << 23
    assert before < 2 * size  # the large array does not count
    assert 0.9 * size < grown < 2 * size


GIGABYTE = 1 << 30


def test_where_only_the_size_of_memory_is_known_it_counts(monkeypatch):
    sizes = {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}

    def sysconf(name):
        if name not in sizes:
            raise ValueError("unrecognized configuration name")  # as macOS for SC_AVPHYS_PAGES
        return sizes[name]

    monkeypatch.setattr(_memory, "_reported_bytes", lambda path, name: None)
    monkeypatch.setattr(_memory.os, "sysconf", sysconf)
    assert _memory._free_on_machine() == 4_096_000
    sizes.clear()
    assert _memory._free_on_machine() is None


@pytest.mark.parametrize("succeeds", [True, False])
def test_the_free_memory_of_windows(succeeds, monkeypatch):
    def report(status):
        assert ctypes.string_at(status, 4) == (64).to_bytes(4, "little")  # the size of the struct
        numbers = struct.pack("<II7Q", 64, 50, 16 * GIGABYTE, 5 * GIGABYTE, *range(5))
        ctypes.memmove(status, numbers, 64)
        return int(succeeds)

    library = SimpleNamespace(kernel32=SimpleNamespace(GlobalMemoryStatusEx=report))
    monkeypatch.setattr(ctypes, "windll", library, raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(_memory, "_reported_bytes", lambda path, name: None)
    assert _memory._free_on_machine() == (5 * GIGABYTE if succeeds else None)


@pytest.fixture
def roomy_machine(monkeypatch):
    """A machine with much free memory and no limits."""
    monkeypatch.setattr(_memory, "_free_on_machine", lambda: 100 * GIGABYTE)
    monkeypatch.setattr(_memory, "_free_in_address_space", lambda: None)


def write_files(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(f"{content}\n", encoding="utf-8")


@pytest.mark.parametrize("group", ["", "outer", "outer/inner"])
def test_control_groups_of_version_2(tmp_path, monkeypatch, roomy_machine, group):
    monkeypatch.setattr(_memory, "CGROUPS", tmp_path)
    monkeypatch.setattr(_memory, "OWN_CGROUPS", tmp_path / "own")
    write_files(tmp_path, {"own": "0::/outer/inner"})
    write_files(tmp_path / "outer/inner", {"memory.max": "max", "memory.current": 5})
    assert available_bytes() == 100 * GIGABYTE
    limit = {
        "memory.max": 3 * GIGABYTE,
        "memory.current": GIGABYTE,
        "memory.stat": "anon 5\ninactive_file 1000\nactive_file 7",
    }
    write_files(tmp_path / group, limit)
    assert available_bytes() == 2 * GIGABYTE + 1000


@pytest.mark.parametrize("group", ["", "docker/7"])
def test_control_groups_of_version_1(tmp_path, monkeypatch, roomy_machine, group):
    monkeypatch.setattr(_memory, "CGROUPS", tmp_path)
    monkeypatch.setattr(_memory, "OWN_CGROUPS", tmp_path / "own")
    write_files(tmp_path, {"own": "3:cpu,cpuacct:/docker/7\n2:memory:/docker/7"})
    limit = {
        "memory.limit_in_bytes": 3 * GIGABYTE,
        "memory.usage_in_bytes": 4 * GIGABYTE,
        "memory.stat": "total_inactive_file 1000",
    }
    write_files(tmp_path / "memory" / group, limit)
    assert available_bytes() == 0


LIMITED = """
import resource, sys
import numpy as np
import dssc
X = np.random.default_rng(0).standard_normal((20_000, 10))
dssc.TSC(2).fit(X[:50])  # loads libraries
limit = 5 << 30
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
from dssc._memory import available_bytes
assert 0 < available_bytes() < limit
for method in (dssc.JDSSC, dssc.LSR, dssc.LRSC):
    try:
        method(2).fit(X)
    except MemoryError as error:
        print(error)
"""


def test_a_limited_address_space_gives_errors_with_a_remedy():
    pytest.importorskip("resource")
    if peak_bytes() is None:
        pytest.skip("this system does not report memory")
    command = [sys.executable, "-c", LIMITED]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    messages = done.stdout.splitlines()
    assert len(messages) == 3
    for message in messages:
        assert "needs about" in message
        assert "ADSSC" in message
        assert "n_samples=20000" in message
