"""How kernels are compiled: cached on disk, without the interpreter's lock."""

from collections.abc import Callable
from functools import cached_property, update_wrapper
from typing import Any

from numba import njit

from dssc._forking import Fork
from dssc.kernels.compile_cache import KernelCache, SerialKernelCache, kernel_cache

Function = Callable[..., Any]


class ParallelKernel:
    """A kernel whose outer loop runs on all threads, or on one if a fork has lost the threads.

    Both give the same bits, as every kernel does for any number of threads.

    Attributes
    ----------
    py_func : callable
        The function in Python.
    threaded : numba dispatcher
        The kernel on all threads.
    """

    def __init__(self, function: Function) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.threaded = _compiled(function, parallel=True)

    @cached_property
    def serial(self) -> Callable[..., Any]:
        """The kernel on one thread. Few processes need it, so it is made when it is called."""
        return _compiled(self.py_func, cache=SerialKernelCache)

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        return (self.serial if Fork.lost_threads else self.threaded)(*arguments)


def parallel(function: Function) -> Any:
    """Compile a kernel whose outer loop runs on all threads."""
    return ParallelKernel(function)


def parallel_inside(function: Function) -> Any:
    """Compile a parallel loop for use inside other kernels.

    They must not enter it where a fork has lost the threads.
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


def _compiled(function: Function, cache: type[KernelCache] = KernelCache, **options: Any) -> Any:
    kernel = njit(nogil=True, error_model="numpy", **options)(function)
    # What njit(cache=True) does; numba has no public way to give it another cache.
    kernel._cache = kernel_cache(function, cache)
    return kernel
