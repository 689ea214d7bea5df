"""The memory that this process may still use, and its peak memory."""

import os
import sys
from contextlib import suppress
from pathlib import Path

# Where Linux shows control groups, by which containers limit memory.
CGROUPS = Path("/sys/fs/cgroup")
# What Linux reports about this process.
STATUS = "/proc/self/status"
# The control groups of this process.
OWN_CGROUPS = Path("/proc/self/cgroup")


def available_bytes() -> int | None:
    """Return the memory that this process may use without swapping, or None if it is not known.

    This is the least of what is free on the machine, in the control groups of the process (of a
    container), and in its address space (``ulimit -v``).
    """
    limits = [_free_on_machine(), _free_in_address_space(), *_free_in_cgroups()]
    known = [limit for limit in limits if limit is not None]
    return max(0, min(known)) if known else None


def check_matrices(
    purpose: str,
    n: int,
    n_matrices: int,
    available: int | None,
    remedy: str,
    *,
    itemsize: int = 8,
    place: str = "",
) -> None:
    """Refuse a computation whose n x n matrices do not fit, before anything is allocated.

    `available` is the number of bytes that may be used, or None if it is not known; `place` names a
    device for the message.
    """
    needed = n_matrices * n * n * itemsize
    if available is not None and needed > available:
        on = f" on {place}" if place else ""
        raise MemoryError(
            f"{purpose} for n_samples={n} needs about {needed} bytes{on} ({n_matrices} matrices of "
            f"{n} x {n}); {available} are free. {remedy}"
        )


def _free_on_machine() -> int | None:
    free = _reported_bytes("/proc/meminfo", "MemAvailable:")
    if free is None and sys.platform == "win32":
        return _free_on_windows()
    # macOS says only how much memory it has.
    for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES"):
        if free is None:
            with suppress(AttributeError, OSError, ValueError):
                free = os.sysconf(name) * os.sysconf("SC_PAGE_SIZE")
    return free


def _free_on_windows() -> int | None:
    """Return the field `ullAvailPhys` of what Windows reports about memory, or None."""
    import ctypes

    # MEMORYSTATUSEX: its length and the load in 32 bits each, then seven numbers of 64 bits.
    status = (ctypes.c_uint64 * 8)(64)
    try:
        succeeded = ctypes.windll.kernel32.GlobalMemoryStatusEx(status)  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return None
    return int(status[2]) if succeeded else None


def _free_in_address_space() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, used = resource.getrlimit(resource.RLIMIT_AS)[0], _reported_bytes(STATUS, "VmSize:")
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _free_in_cgroups() -> list[int]:
    """Return what is free in every control group of this process that has a limit."""
    free = []
    with suppress(OSError):
        for line in OWN_CGROUPS.read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if not controllers:  # version 2
                root, limit, usage, cache = CGROUPS, "memory.max", "memory.current", "inactive_file"
            elif "memory" in controllers.split(","):
                root, limit = CGROUPS / "memory", "memory.limit_in_bytes"
                usage, cache = "memory.usage_in_bytes", "total_inactive_file"
            else:
                continue
            group = root / path.lstrip("/")
            # A limit of an outer group applies to inner ones. In a container only the outermost
            # group of the path may be visible.
            for folder in (group, *group.parents):
                if folder.is_relative_to(root):
                    free += _free_in_cgroup(folder, limit, usage, cache)
    return free


def _free_in_cgroup(folder: Path, limit: str, usage: str, cache: str) -> list[int]:
    """Return what is free in a control group, or nothing if it has no limit."""
    with suppress(OSError, ValueError):
        most, used = (int((folder / name).read_text(encoding="utf-8")) for name in (limit, usage))
        stat = (folder / "memory.stat").read_text(encoding="utf-8").splitlines()
        # Pages of files that the system gives up when memory is needed.
        reclaimable = next(
            (int(line.split()[1]) for line in stat if line.startswith(f"{cache} ")), 0
        )
        return [most - used + reclaimable]
    return []


def reset_peak() -> None:
    """Start a new measurement of this process's peak memory, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def peak_bytes() -> int | None:
    """Return the peak memory of this process since `reset_peak`, or None if it is not known."""
    return _reported_bytes(STATUS, "VmHWM:")


def _reported_bytes(path: str, name: str) -> int | None:
    """Return an entry of one of Linux's memory files, or None."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text(encoding="utf-8").splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    return None
