"""Warnings that point at the user's line, however deep inside the package they are raised."""

import inspect
import warnings

# Packages whose frames are not the user's code: this one, and those that wrap calls to it.
INTERNAL_PACKAGES = frozenset(
    {"dssc", "sklearn", "joblib", "concurrent", "contextlib", "threading", "importlib"}
)


def warn_user(message: str, category: type[Warning]) -> None:
    """Issue a warning at the line that called the public function or estimator.

    This is the innermost line outside of this package and of the packages that wrap calls to it. In
    a thread that has no such line, it is the thread's outermost line.
    """
    level = 1
    frame = inspect.currentframe()
    while frame is not None and frame.f_back is not None and _is_internal(frame.f_globals):
        frame = frame.f_back
        level += not _is_skipped(frame.f_code.co_filename)
    warnings.warn(message, category, stacklevel=level)


def _is_skipped(filename: str) -> bool:
    """Return whether `warnings` does not count a frame: those of an import statement."""
    return "importlib" in filename and "_bootstrap" in filename


def _is_internal(module_globals: dict[str, object]) -> bool:
    return str(module_globals.get("__name__")).partition(".")[0] in INTERNAL_PACKAGES
