import inspect
import pkgutil
from importlib import import_module
from types import FunctionType

import pytest
from numba.core.dispatcher import Dispatcher

from dssc import kernels
from dssc.kernels.compiling import ParallelKernel

# Modules of functions that only other kernels call.
INTERNAL = {"arithmetic", "compile_cache", "compiling", "heap", "l1_quadratic"}


def public_kernels():
    """Return the name of every kernel that other packages may call, with its module."""
    modules = {m.name for m in pkgutil.iter_modules(kernels.__path__) if not m.ispkg} - INTERNAL
    return [
        (name, key)
        for name in sorted(modules)
        for key, value in vars(import_module(f"dssc.kernels.{name}")).items()
        if isinstance(value, Dispatcher | ParallelKernel | FunctionType)
        and value.__module__ == f"dssc.kernels.{name}"
        and not key.startswith("_")
    ]


@pytest.mark.parametrize(("module", "name"), public_kernels())
def test_every_kernel_has_a_twin_with_the_same_parameters(module, name):
    kernel = getattr(import_module(f"dssc.kernels.{module}"), name)
    twin = getattr(import_module(f"dssc.kernels.reference.{module}"), name)
    assert inspect.signature(twin) == inspect.signature(getattr(kernel, "py_func", kernel))


def test_every_exported_kernel_is_compared_with_its_twin():
    exported = set(kernels.__all__) - {"n_threads", "python_threads_worth", "threads_worth"}
    assert exported <= {name for _, name in public_kernels()}
