"""How kernels are compiled: cached on disk, without the interpreter's lock."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

# A kernel whose outer loop runs on all threads.
parallel: Decorator = njit(parallel=True, cache=True, nogil=True, error_model="numpy")
# A kernel that runs on the thread of its caller.
leaf: Decorator = njit(cache=True, nogil=True, error_model="numpy")
# A leaf whose sums the compiler may reorder, to vectorise them. The order is fixed at compile time.
reduction: Decorator = njit(
    cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"}
)
