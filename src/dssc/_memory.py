"""How much memory there is, and how much a process has used."""

import os
from contextlib import suppress
from pathlib import Path


def available_bytes() -> int | None:
    """Return the memory that can be had without swapping, or None where the system does not say."""
    told = _told("/proc/meminfo", "MemAvailable:")
    if told is not None:
        return told
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def forget_peak() -> None:
    """Start measuring the peak of this process anew, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int | None:
    """Return the most memory this process held since `forget_peak`, None if it is not known."""
    return _told("/proc/self/status", "VmHWM:")


def _told(path: str, name: str) -> int | None:
    """Return the bytes that Linux tells under a name, or None."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path(path).read_text().splitlines():
            if line.startswith(name):
                return 1024 * int(line.split()[1])
    return None
