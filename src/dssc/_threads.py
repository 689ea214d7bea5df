"""Work on blocks of rows, one block per thread."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

# Size up to which one thread finds all eigenvectors of a dense matrix about as fast as many.
SMALL_MATRIX = 1000
# Multiplications that are worth a thread.
PRODUCTS_PER_THREAD = 2e7
# Calls per thread that run, wait or have a result that nobody has taken yet.
CALLS_PER_THREAD = 2


class _BlasThreads:
    """Limits the threads of BLAS: it uses the smallest number that any Python thread inside allows.

    This number belongs to the process, so a thread cannot just restore what it found. threadpoolctl
    ignores all Python threads but one, which may be another one.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.limits: list[int] = []
        self.usual: list[int] = []

    @contextmanager
    def at_most(self, n_threads: int) -> Iterator[None]:
        """Let BLAS use at most so many threads."""
        libraries = _libraries("blas").lib_controllers
        with self.lock:
            if not self.limits:
                self.usual = [library.num_threads for library in libraries]
            self.limits.append(n_threads)
            self._apply(libraries)
        try:
            yield
        finally:
            with self.lock:
                self.limits.remove(n_threads)
                self._apply(libraries)

    def _apply(self, libraries: list[Any]) -> None:
        for library, usual in zip(libraries, self.usual, strict=True):
            # In recent versions the public method does nothing on most Python threads.
            set_threads = getattr(library, "_real_set_num_threads", library.set_num_threads)
            set_threads(min([usual, *self.limits]))

    def renew(self) -> None:
        """Forget, after a fork, a thread that held the lock and no longer exists."""
        self.lock = threading.Lock()


_blas = _BlasThreads()
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_blas.renew)


# A `map`, perhaps on several threads.
InThreads = Callable[..., Iterator[Any]]


@contextmanager
def block_threads(n_threads: int) -> Iterator[InThreads]:
    """Provide a `map` whose calls run on several threads; each thread multiplies on its own.

    The results come in order, and calls begin only a few ahead of the result that is taken next:
    what waits to be taken is bounded, however many calls there are. Threads that multiply and then
    do something else with the product never wait for each other. A multithreaded BLAS would keep
    its own threads spinning meanwhile.
    """
    with _blas.at_most(1):
        if n_threads == 1:
            yield map
            return
        with ThreadPoolExecutor(n_threads) as threads:
            yield partial(_map_in_order, threads, CALLS_PER_THREAD * n_threads)


def _map_in_order(
    threads: ThreadPoolExecutor,
    most_ahead: int,
    function: Callable[..., Any],
    *arguments: Iterable[Any],
) -> Iterator[Any]:
    """Yield what calls of a function return; at most `most_ahead` are not taken at any time."""
    calls = zip(*arguments, strict=False)
    ahead = deque(threads.submit(function, *call) for call in islice(calls, most_ahead))
    try:
        while ahead:
            result = ahead.popleft().result()
            ahead.extend(threads.submit(function, *call) for call in islice(calls, 1))
            yield result
    finally:
        for future in ahead:
            future.cancel()


def share_rows(work: Callable[[slice], None], n_rows: int, n_threads: int) -> None:
    """Call `work` with slices that share out the rows, each on a thread of its own."""
    edges = np.linspace(0, n_rows, max(1, n_threads) + 1).astype(np.int64).tolist()
    slices = [slice(*edge) for edge in pairwise(edges)]
    if len(slices) == 1:
        work(slices[0])
        return
    with block_threads(n_threads) as in_threads:
        for _ in in_threads(work, slices):
            pass


@contextmanager
def one_thread() -> Iterator[None]:
    """Let OpenMP and BLAS use one thread.

    Threads that meet after every short piece of work gain little on an idle machine, and wait for
    each other on a busy one.
    """
    # At its end a limit restores all libraries of its controller, so this one has OpenMP only.
    with _libraries("openmp").limit(limits=1), _blas.at_most(1):
        yield


@contextmanager
def threads_for_products(n_operations: float) -> Iterator[None]:
    """Let OpenMP and BLAS use as many threads as so many multiplications are worth."""
    wanted = 1 + int(n_operations // PRODUCTS_PER_THREAD)
    openmp = _libraries("openmp")
    most = min([wanted, *(library.num_threads for library in openmp.lib_controllers)])
    with openmp.limit(limits=most), _blas.at_most(wanted):
        yield


def threads_for_eigenvectors(size: int) -> AbstractContextManager[Any]:
    """Return a context for all eigenvectors of a matrix: with one thread if the matrix is small."""
    return one_thread() if size <= SMALL_MATRIX else nullcontext()


@cache
def _libraries(user_api: str) -> ThreadpoolController:
    """Return the thread pools of an interface; finding them takes milliseconds each time."""
    return ThreadpoolController().select(user_api=user_api)
