"""Which members of a class the reference shows."""

import inspect
import re
from importlib import import_module

# Inherited from scikit-learn, and part of how the estimators are used.
INHERITED = (
    "fit_predict",
    "fit_transform",
    "get_feature_names_out",
    "get_params",
    "set_params",
)


def documented_methods(name: str) -> list[str]:
    """Return the public methods that the package documents, and a few of scikit-learn's."""
    methods = inspect.getmembers(_class(name), inspect.isroutine)
    return [
        method
        for method, value in methods
        if method in INHERITED or (_is_public(method, value) and _is_ours(value))
    ]


def documented_properties(name: str) -> list[str]:
    """Return the public properties that the docstring of the class does not describe already."""
    cls = _class(name)
    described = re.findall(r"^ *(\w+) : ", cls.__doc__ or "", re.M)
    return [
        name
        for name, value in inspect.getmembers(cls, inspect.isdatadescriptor)
        if isinstance(value, property)
        and name not in described
        and _is_public(name, value)
        and _is_ours(value.fget)
    ]


def _class(name):
    """Return the class that a dotted name such as dssc.result.ProjectionResult means."""
    module, _, name = name.rpartition(".")
    return getattr(import_module(module), name)


def _is_public(name, value):
    return not name.startswith("_") and bool(value.__doc__)


def _is_ours(function):
    return getattr(function, "__module__", "").startswith("dssc")
