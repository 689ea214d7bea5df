"""A limit on the time of a block of code."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(Exception):
    """A block took longer than its limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block once it has taken `seconds`, between two steps of Python.

    This works only in the main thread of a process, and not on Windows; elsewhere the block takes
    the time it needs.
    """
    try:
        previous = signal.signal(signal.SIGALRM, _interrupt)
    except (AttributeError, ValueError):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise OutOfTime
