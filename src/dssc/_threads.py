"""Work on blocks of rows, one block per thread."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@contextmanager
def block_threads(n_threads: int) -> Iterator[Callable[..., Iterator[Any]]]:
    """Provide a `map` whose calls run on several threads; each thread multiplies on its own.

    The results come in order. Threads that multiply and then do something else with the product
    never wait for each other. A multithreaded BLAS would keep its own threads spinning meanwhile.
    """
    with _libraries().limit(limits=1, user_api="blas"), ThreadPoolExecutor(n_threads) as threads:
        yield threads.map


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which OpenMP and BLAS use one thread.

    Threads that meet after every short piece of work gain little on an idle machine, and wait for
    each other on a busy one.
    """
    return _libraries().limit(limits=1)


@cache
def _libraries() -> ThreadpoolController:
    """Return the thread pools of this process; finding them takes milliseconds each time."""
    return ThreadpoolController()
