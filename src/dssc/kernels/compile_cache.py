"""The cache of compiled kernels on disk, which never stands in the way of a computation.

numba's own cache raises an error if no folder is writable, as in many containers, and if one of its
files is damaged. This one does without, or replaces the file.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache
from numba.core.serialize import dumps

from dssc._warnings import warn_user

# Functions to call before the next kernel is compiled.
_waiting: list[Callable[[], None]] = []


class ChecksummedResults(CompileResultCacheImpl):
    """Stores a checksum with compiled code: damaged code would crash the process that runs it."""

    def reduce(self, result: Any) -> tuple[bytes, bytes]:
        """Return the checksum and the content of compiled code."""
        content = dumps(super().reduce(result))
        return hashlib.sha256(content).digest(), content

    def rebuild(self, target_context: Any, payload: tuple[bytes, bytes]) -> Any:
        """Return the compiled code of a content that matches its checksum."""
        checksum, content = payload
        if hashlib.sha256(content).digest() != checksum:
            raise ValueError("the checksum does not match")
        return super().rebuild(target_context, pickle.loads(content))


class KernelCache(FunctionCache):
    """The compiled code of one kernel; files that cannot be read or written do no harm."""

    _impl_class = ChecksummedResults

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Return compiled code, or None if there is none or its file is damaged."""
        try:
            code = super().load_overload(signature, target_context)
        # Unpickling damaged files raises all kinds of exceptions.
        except Exception:
            with suppress(OSError):
                self.flush()
            code = None
        if code is None:  # numba compiles next
            while _waiting:
                _waiting.pop()()
        return code

    def save_overload(self, signature: Any, result: Any) -> None:
        """Store compiled code, if the disk has space for it and the folder is still writable."""
        try:
            super().save_overload(signature, result)
        except OSError as error:
            _warn_of_no_cache(error.strerror or str(error))


class SerialResults(ChecksummedResults):
    """Compiled code under another name: numba's names do not say whether a loop is parallel."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        """Return the start of the names of files."""
        return f"serial-{super().get_filename_base(fullname, abiflags)}"


class SerialKernelCache(KernelCache):
    """The compiled code of a parallel kernel for one thread."""

    _impl_class = SerialResults


def kernel_cache(
    function: Callable[..., Any], kind: type[KernelCache] = KernelCache
) -> KernelCache | NullCache:
    """Return the cache of a kernel. If no folder is writable, it stores nothing."""
    try:
        return kind(function)
    except (RuntimeError, OSError):  # numba found no folder
        _warn_of_no_cache("no folder is writable")
        return NullCache()


@contextmanager
def before_compiling(notify: Callable[[], None]) -> Iterator[None]:
    """Call a function before the first kernel is compiled inside the block, if one is."""
    _waiting.append(notify)
    try:
        yield
    finally:
        if notify in _waiting:
            _waiting.remove(notify)


@cache
def _warn_of_no_cache(reason: str) -> None:
    """Warn once: every kernel has a cache of its own."""
    warn_user(
        f"compiled code cannot be stored ({reason}), so that every process compiles again, which "
        "takes up to a minute; set NUMBA_CACHE_DIR to a writable folder",
        UserWarning,
    )
