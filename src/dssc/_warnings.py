"""Warnings that point at the user's line and, like errors, at the page that explains them."""

import inspect
import re
import warnings
from typing import TypeVar

Failure = TypeVar("Failure", bound=BaseException)

# Packages whose frames are not the user's code: this one, and those that wrap calls to it.
INTERNAL_PACKAGES = frozenset(
    {"dssc", "sklearn", "joblib", "concurrent", "contextlib", "threading", "importlib"}
)

DOCUMENTATION = "https://dssc-developers.github.io/dssc/stable"
# Phrases of messages that are a heading of docs/troubleshooting.md, which explains the message.
EXPLAINED = (
    "connected components, more than n_clusters",
    "no clusters beyond chance",
    "are equal or opposite once they are scaled to unit norm",
    "was estimated on weak evidence",
    "the leading eigenvectors of the affinity have a residual of",
    "not converged",
    "rows unfinished after max_iter",
    "compiled code cannot be stored",
    "set DSSC_CACHE to a writable folder",
    "the cache file",
    "clusters cannot be told apart",
    "X has n_features=1",
    "samples are orthogonal to each other",
    "like a matrix of similarities",
    "which cannot be scaled to unit norm",
    "NaN or infinite",
    "should be >= n_clusters",
    "fewer than n_clusters",
    "bytes to compute",
    "are free",
    "needs PyTorch",
    "needs a CUDA GPU",
    "like an array of images",
)


def help_link(message: str) -> str:
    """Return the address of the paragraph that explains a message.

    It is "" if there is none, or if the message names it already because it is issued again.
    """
    for phrase in EXPLAINED if DOCUMENTATION not in message else ():
        if phrase in message:
            anchor = re.sub(r"[^\w\- ]", "", phrase.lower()).replace(" ", "-")
            return f"{DOCUMENTATION}/troubleshooting.html#{anchor}"
    return ""


def explained(error: Failure) -> Failure:
    """Return an error with a note that names the paragraph about it; its message stays as it is."""
    link = help_link(str(error))
    if link:
        error.add_note(f"See {link}")
    return error


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
    link = help_link(message)
    warnings.warn(f"{message}. See {link}" if link else message, category, stacklevel=level)


def _is_skipped(filename: str) -> bool:
    """Return whether `warnings` does not count a frame: those of an import statement."""
    return "importlib" in filename and "_bootstrap" in filename


def _is_internal(module_globals: dict[str, object]) -> bool:
    return str(module_globals.get("__name__")).partition(".")[0] in INTERNAL_PACKAGES
