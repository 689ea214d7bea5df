"""`dssc info`: versions, engines, threads, memory."""

import argparse
import os
import platform
import sys
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

import dssc
from dssc.cli import Subparsers
from dssc.cli.console import print_json, print_line
from dssc.cli.exits import OK

# Packages that dssc needs.
REQUIRED = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "threadpoolctl")
# Optional packages, and the extra of dssc that installs each.
OPTIONAL = {"pillow": "images", "pyarrow": "tables", "matplotlib": "plot"}


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "info",
        help="show versions, engines, threads and memory",
        description="Show the environment of dssc, for example for a bug report.",
    )
    parser.add_argument("--json", action="store_true", help="print the information as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the environment."""
    environment = gather()
    if args.json:
        print_json(environment)
        return OK
    for name, value in environment.items():
        if isinstance(value, dict):
            print_line(f"{name}:")
            for inner, text in value.items():
                print_line(f"  {inner:16} {text}")
        else:
            print_line(f"{name:18} {value}")
    return OK


def gather() -> dict[str, Any]:
    """Return versions, engines, threads and memory."""
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


def _engines() -> str:
    """Return the devices that are available here."""
    if find_spec("torch") is None:
        return "cpu (numba); cuda needs pip install 'dssc[gpu]'"
    cuda = import_module("torch").cuda.is_available()
    return "cpu (numba), torch, cuda" if cuda else "cpu (numba), torch"


def _gpu() -> str:
    if find_spec("torch") is None:
        return "unknown: torch is not installed"
    torch = import_module("torch")
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "none visible to torch"


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
