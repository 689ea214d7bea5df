"""A word to the user while code is compiled, which takes time in the first run only."""

from collections.abc import Iterator
from contextlib import contextmanager

from dssc._progress import Progress
from dssc.kernels.compile_cache import before_compiling

# What is shown before the first kernel is compiled.
NOTE = "compiling, once: later runs start faster"


@contextmanager
def compiling_note(progress: Progress) -> Iterator[None]:
    """Show a line before the first kernel is compiled inside the block, if one is."""
    with before_compiling(lambda: progress.note(NOTE)):
        yield
