"""Runs that end when their time is over."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class OutOfTime(Exception):
    """The time of a block is over."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block when it has taken so long, between two steps of Python.

    Only a process's main thread can be interrupted so, and not on Windows; elsewhere the block
    takes the time it needs.
    """
    try:
        before = signal.signal(signal.SIGALRM, _interrupt)
    except (AttributeError, ValueError):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _interrupt(number, frame):
    raise OutOfTime
