"""The free memory of the machine, and the peak memory of this process."""

import os
from contextlib import suppress
from pathlib import Path


def available_bytes() -> int | None:
    """Return the memory that is free without swapping, or None if the system does not report it."""
    free = _reported_bytes("/proc/meminfo", "MemAvailable:")
    if free is not None:
        return free
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def reset_peak() -> None:
    """Start a new measurement of this process's peak memory, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int | None:
    """Return the peak memory of this process since `reset_peak`, or None if it is not known."""
    return _reported_bytes("/proc/self/status", "VmHWM:")


def _reported_bytes(path: str, name: str) -> int | None:
    """Return an entry of one of Linux's memory files, or None."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text().splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    return None
