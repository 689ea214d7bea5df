"""How kernels are compiled: cached on disk, without the interpreter's lock."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, update_wrapper
from typing import Any

import numba
import numpy as np
from numba import njit

from dssc._forking import Fork
from dssc.kernels.compile_cache import KernelCache, SerialKernelCache, kernel_cache

Function = Callable[..., Any]

# Array elements that are worth a thread: about a tenth of a millisecond of work, where waking many
# threads can take longer.
ELEMENTS_PER_THREAD = 100_000
# Most threads of a loop in proportion to its arrays, which are limited by memory. They spin after
# the loop, and take processors from what comes next.
TEAM = 8
# How much longer it takes to start a thread of Python.
PYTHON_THREAD_COST = 10


class _Turns:
    """The lock of loops that must run one after the other."""

    lock = threading.Lock()

    @classmethod
    def renew(cls) -> None:
        """Forget, after a fork, a thread that held the lock and no longer exists."""
        cls.lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_Turns.renew)


@contextmanager
def in_turn() -> Iterator[None]:
    """Let one Python thread at a time enter a parallel loop, if numba's threads need that.

    Its layer "workqueue", the only one where neither OpenMP nor TBB is installed, ends the process
    otherwise. Which layer there is shows when the first parallel loop has started.
    """
    try:
        is_safe = numba.threading_layer() != "workqueue"
    except ValueError:
        is_safe = False
    if is_safe:
        yield
    else:
        with _Turns.lock:
            yield


class ParallelKernel:
    """A kernel whose outer loop runs on several threads, or on one if a fork has lost the threads.

    All give the same bits, as every kernel does for any number of threads.

    Parameters
    ----------
    function : callable
        The function in Python.
    in_proportion : bool
        Whether the work is in proportion to the size of the arrays. Then small arrays are left to
        one thread, and others to a team.

    Attributes
    ----------
    py_func : callable
        The function in Python.
    threaded : numba dispatcher
        The kernel on all threads.
    """

    def __init__(self, function: Function, in_proportion: bool = False) -> None:
        update_wrapper(self, function)
        self.py_func, self.in_proportion = function, in_proportion
        self.threaded = _compiled(function, parallel=True)

    @cached_property
    def serial(self) -> Callable[..., Any]:
        """The kernel on one thread. Few processes need it, so it is made when it is called."""
        return _compiled(self.py_func, cache=SerialKernelCache)

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        if Fork.lost_threads:
            return self.serial(*arguments)
        with in_turn():
            if not self.in_proportion:
                return self.threaded(*arguments)
            with threads_for_elements(sum(a.size for a in arguments if isinstance(a, np.ndarray))):
                return self.threaded(*arguments)


def threads_worth(n_elements: int) -> int:
    """Return how many threads are worth waking for so many array elements."""
    return int(min(numba.get_num_threads(), 1 + n_elements // ELEMENTS_PER_THREAD))


def python_threads_worth(n_elements: int) -> int:
    """Return how many threads of Python are worth starting for so many array elements."""
    return threads_worth(n_elements // PYTHON_THREAD_COST)


@contextmanager
def threads_for_elements(n_elements: int) -> Iterator[None]:
    """Let kernels use one thread, or a team where so many array elements are worth it.

    The team is always of the same size: OpenMP would end threads and start new ones otherwise.
    """
    most = numba.get_num_threads()
    numba.set_num_threads(min(most, TEAM) if threads_worth(n_elements) > 1 else 1)
    try:
        yield
    finally:
        numba.set_num_threads(most)


def parallel(function: Function) -> Any:
    """Compile a kernel whose outer loop runs on all threads."""
    return ParallelKernel(function)


def parallel_in_proportion(function: Function) -> Any:
    """Compile a kernel whose outer loop runs on a team of threads if its arrays are large."""
    return ParallelKernel(function, in_proportion=True)


def in_row_blocks(kernel: Function, n_rows: int, n_elements: int, *arguments: Any) -> None:
    """Call a leaf for ``range(first, last)`` of the rows, on as many threads as are worth it.

    Threads of Python take longer to start than the loop of a parallel kernel, but that takes three
    times as long to compile. So this is for kernels that are called a few times per solve.
    """
    n_blocks = python_threads_worth(n_elements)
    if n_blocks == 1:
        kernel(0, n_rows, *arguments)
        return
    edges = np.linspace(0, n_rows, n_blocks + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(n_blocks) as threads:
        list(threads.map(lambda *ends: kernel(*ends, *arguments), edges, edges[1:]))


def parallel_inside(function: Function) -> Any:
    """Compile a parallel loop for use inside other kernels.

    They must not enter it where a fork has lost the threads, and their callers enter `in_turn`.
    """
    return _compiled(function, parallel=True)


def leaf(function: Function) -> Any:
    """Compile a kernel that runs on the thread of its caller."""
    return _compiled(function)


def reduction(function: Function) -> Any:
    """Compile a leaf whose sums the compiler may reorder, to vectorise them.

    The order is fixed at compile time.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def counting(function: Function) -> Any:
    """Compile a leaf that counts in float32, vectorised like a `reduction`.

    Products and sums are rounded one by one, so that it counts what another kernel would find.
    """
    return _compiled(function, fastmath={"reassoc"})


def _compiled(function: Function, cache: type[KernelCache] = KernelCache, **options: Any) -> Any:
    kernel = njit(nogil=True, error_model="numpy", **options)(function)
    # What njit(cache=True) does; numba has no public way to give it another cache.
    kernel._cache = kernel_cache(function, cache)
    return kernel
