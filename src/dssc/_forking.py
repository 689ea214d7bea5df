"""Processes made by fork, in which the threads of their parent no longer exist.

GNU OpenMP starts threads once and then waits for them forever in a forked process. numba ends such
a process instead. So after a fork, loops that would need these threads run on one thread.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numba
from threadpoolctl import threadpool_limits


class Fork:
    """What a fork has done to this process.

    Attributes
    ----------
    happened : bool
        Whether this process was made by fork after the package had been imported.
    lost_threads : bool
        Whether the threads of compiled kernels had been started before.
    """

    happened = False
    lost_threads = False


def _note_fork() -> None:
    Fork.happened = True
    try:
        numba.threading_layer()
    except ValueError:  # no threads were started, so this process can start its own
        return
    Fork.lost_threads = True


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_note_fork)


@contextmanager
def safe_openmp() -> Iterator[None]:
    """Let the OpenMP loops of other packages run on one thread after a fork."""
    if not Fork.happened:
        yield
        return
    with threadpool_limits(1, "openmp"):
        yield
