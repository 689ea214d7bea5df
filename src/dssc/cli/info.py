"""`dssc info`: versions, engines, threads, memory."""

import argparse
import os
import platform
import sys
from importlib import import_module, metadata
from importlib.util import find_spec

import dssc
from dssc.cli.console import say, say_json

REQUIRED = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")
OPTIONAL = {"pillow": "images", "pyarrow": "tables", "matplotlib": "plot"}


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "info",
        help="show versions, engines, threads and memory",
        description="Show what dssc runs on: useful in a bug report.",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Tell what there is."""
    found = gather()
    if args.json:
        say_json(found)
        return 0
    for name, value in found.items():
        if isinstance(value, dict):
            say(f"{name}:")
            for inner, text in value.items():
                say(f"  {inner:16} {text}")
        else:
            say(f"{name:18} {value}")
    return 0


def gather() -> dict:
    """Return what the package runs on."""
    import numba
    from threadpoolctl import threadpool_info

    from dssc._memory import available_bytes
    from dssc.datasets.base import data_folder

    memory = available_bytes()
    return {
        "dssc": dssc.__version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "packages": {name: _version(name) for name in REQUIRED}
        | {name: _version(name) or f"missing: pip install 'dssc[{extra}]'"
           for name, extra in OPTIONAL.items()},
        "engines": _engines(),
        "GPU": _gpu(),
        "threads": {
            "cores": os.cpu_count(),
            "numba": numba.get_num_threads(),
            **{pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()},
        },
        "free memory": "unknown" if memory is None else f"{memory / 2**30:.1f} GiB",
        "data folder": str(data_folder()),
    }  # fmt: skip


def _engines():
    """Return what `device=` can be here."""
    if find_spec("torch") is None:
        return "cpu (numba); cuda needs pip install 'dssc[gpu]'"
    cuda = import_module("torch").cuda.is_available()
    return "cpu (numba), torch, cuda" if cuda else "cpu (numba), torch"


def _gpu():
    if find_spec("torch") is None:
        return "unknown: torch is not installed"
    torch = import_module("torch")
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "none that torch sees"


def _version(name):
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
