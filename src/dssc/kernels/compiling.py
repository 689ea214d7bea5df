"""How kernels are compiled: cached on disk, without the interpreter's lock."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

from dssc.kernels.compile_cache import kernel_cache

F = TypeVar("F", bound=Callable[..., Any])


def parallel(function: F) -> F:
    """Compile a kernel whose outer loop runs on all threads."""
    return _compiled(function, parallel=True)


def leaf(function: F) -> F:
    """Compile a kernel that runs on the thread of its caller."""
    return _compiled(function)


def reduction(function: F) -> F:
    """Compile a leaf whose sums the compiler may reorder, to vectorise them.

    The order is fixed at compile time.
    """
    return _compiled(function, fastmath={"reassoc", "contract"})


def _compiled(function: F, **options: Any) -> F:
    kernel = njit(nogil=True, error_model="numpy", **options)(function)
    # What njit(cache=True) does; numba has no public way to give it another cache.
    kernel._cache = kernel_cache(function)
    return kernel
