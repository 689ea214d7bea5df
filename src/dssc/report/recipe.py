"""How to make a clustering again: the command, the call in Python, and the versions."""

import inspect
import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import dssc

# Parameters that change no result and are not reported.
HIDDEN_PARAMETERS = ("verbose", "warm_start")
# Fitted attributes with the values that were used, and what the page calls them.
USED = {
    "n_clusters_": "n_clusters",
    "eta1_": "eta1",
    "eta2_": "eta2",
    "n_neighbors_": "neighbours per point",
    "signed_": "signed",
}
# Packages whose versions can change a result.
PACKAGES = {"NumPy": "numpy", "SciPy": "scipy", "scikit-learn": "scikit-learn", "Numba": "numba"}


def reported_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of a model that can change its result, in their usual order."""
    given = model.get_params(deep=False)
    order = [name for name in inspect.signature(type(model)).parameters if name in given]
    return {name: given[name] for name in order if name not in HIDDEN_PARAMETERS}


def python_code(model: Any, source: str, preparation: Sequence[str]) -> str:
    """Return a program that fits the model again: parameters that differ from their defaults."""
    name = type(model).__name__
    known = inspect.signature(type(model)).parameters
    given = [
        f"{parameter}={value!r}"
        for parameter, value in reported_parameters(model).items()
        if parameter == "n_clusters" or not _is_default(known, parameter, value)
    ]
    steps = f", {', '.join(preparation)}" if preparation else ""
    return (
        f"from dssc import {name}\n\n"
        f"# X: {' '.join(source.split())}{steps}\n"
        f"model = {name}({', '.join(given)})\n"
        "labels = model.fit_predict(X)\n"
    )


def used_values(model: Any) -> dict[str, Any]:
    """Return the values that a fit used, given or chosen."""
    return {
        name: getattr(model, attribute)
        for attribute, name in USED.items()
        if getattr(model, attribute, None) is not None
    }


def versions() -> str:
    """Return the versions that made the result."""
    packages = ", ".join(f"{shown} {version(name)}" for shown, name in PACKAGES.items())
    return f"dssc {dssc.__version__}, Python {platform.python_version()}, {packages}"


def _is_default(known: Any, parameter: str, value: Any) -> bool:
    """Return whether a parameter has its default."""
    default = known[parameter].default
    return value is default or (type(value) is type(default) and repr(value) == repr(default))
