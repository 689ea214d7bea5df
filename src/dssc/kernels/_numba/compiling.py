"""How kernels are compiled: without the interpreter's lock, and cached on disk."""

from numba import njit

parallel = njit(parallel=True, cache=True, nogil=True, error_model="numpy")
leaf = njit(cache=True, nogil=True, error_model="numpy")
# Reassociation lets the compiler vectorise a sum; the order is still fixed at compile time.
reduction = njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
