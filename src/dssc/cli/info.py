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
OPTIONAL = {
    "pillow": "images",
    "pyarrow": "tables",
    "openpyxl": "tables",
    "h5py": "hdf5",
    "anndata": "anndata",
    "matplotlib": "plot",
}


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
    engines, gpu = _engines()
    return {
        "dssc": dssc.__version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "packages": {name: _version(name) for name in REQUIRED}
        | {name: _version(name) or f"missing: pip install 'dssc[{extra}]'"
           for name, extra in OPTIONAL.items()},
        "engines": engines,
        "GPU": gpu,
        "threads": {
            "cores": os.cpu_count(),
            "numba": numba.get_num_threads(),
            **{pool["internal_api"]: pool["num_threads"] for pool in threadpool_info()},
        },
        "free memory": "unknown" if memory is None else f"{memory / 2**30:.1f} GiB",
        "data folder": str(data_folder()),
    }  # fmt: skip


def _engines() -> tuple[str, str]:
    """Return the engines that are available here, and the GPU."""
    if find_spec("torch") is None:
        return "cpu (numba); cuda needs pip install 'dssc[gpu]'", "unknown: torch is not installed"
    torch = import_module("torch")
    if not torch.cuda.is_available():
        return "cpu (numba), torch", "none visible to torch"
    return "cpu (numba), torch, cuda", torch.cuda.get_device_name()


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
