"""Work on blocks, a block to a thread."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def block_threads(n_threads: int) -> Iterator[Callable]:
    """Give a `map` whose calls run on several threads, each with matrix products of its own.

    The results come in order. Threads that multiply and then do something else with the product
    never wait for each other; a library of many threads would keep its own spinning meanwhile.
    """
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(n_threads) as threads:
        yield threads.map
