"""`dssc datasets`: the paper's data sets, and which of them are available."""

import argparse
from importlib import import_module
from pathlib import Path
from typing import Any

from dssc.cli import Subparsers
from dssc.cli.console import print_json, print_line
from dssc.cli.exits import OK, CommandError

# The data sets: module in dssc.datasets, description in it, and loader.
DATA_SETS = {
    "yaleb": ("faces", "YALEB", "fetch_yaleb"),
    "orl": ("faces", "ORL", "fetch_orl"),
    "umist": ("faces", "UMIST", "fetch_umist"),
    "coil100": ("objects", "COIL", "fetch_coil"),
    "mnist": ("digits", "MNIST", "fetch_mnist"),
    "emnist_letters": ("digits", "EMNIST", "fetch_emnist_letters"),
}


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "datasets",
        help="list the paper's data sets, or download one",
        description="List the data sets of the paper and whether they are available. A prepared "
        ".npz file can be clustered as it is: dssc cluster FOLDER/orl.npz -k 40 --labels labels",
    )
    parser.add_argument(
        "--data-home",
        metavar="FOLDER",
        help="folder of the data; default: the environment variable DSSC_DATA, else ~/.cache/dssc",
    )
    parser.add_argument(
        "--fetch",
        choices=tuple(DATA_SETS),
        metavar="NAME",
        help="load a data set; download it if necessary",
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List the data sets, or fetch one."""
    from dssc.datasets.base import data_folder

    if args.fetch:
        _fetch(args.fetch, args.data_home)
        return OK
    folder = data_folder(args.data_home)
    entries = [_describe(name, folder) for name in DATA_SETS]
    if args.json:
        print_json({"folder": str(folder), "datasets": entries})
        return OK
    header = f"{'name':16} {'samples':>8} {'classes':>8} {'shape':>12}  available"
    print_line(f"in {folder}:\n{header}")
    for entry in entries:
        size = " x ".join(map(str, entry["shape"]))
        print_line(
            f"{entry['name']:16} {entry['n_samples']:8,} {entry['n_classes']:8} {size:>12}  "
            f"{entry['file'] or ('no; dssc datasets --fetch ' + entry['name'])}"
        )
    return OK


def _describe(name: str, folder: Path) -> dict[str, Any]:
    module, constant, _ = DATA_SETS[name]
    data_set = getattr(import_module(f"dssc.datasets.{module}"), constant)
    prepared = folder / f"{data_set.name}.npz"
    originals = [folder / resource.filename for resource in data_set.resources]
    file = None
    if prepared.is_file():
        file = prepared.name
    elif originals and all(path.exists() for path in originals):
        file = ", ".join(path.name for path in originals)
    return {
        "name": name,
        "title": data_set.title,
        "n_samples": data_set.n_samples,
        "n_classes": data_set.n_classes,
        "shape": list(data_set.shape),
        "file": file,
        "source": data_set.source,
        "terms": data_set.terms,
    }


def _fetch(name: str, data_home: str | None) -> None:
    from urllib.error import URLError

    import dssc

    try:
        bunch = getattr(dssc, DATA_SETS[name][2])(data_home=data_home)
    except (FileNotFoundError, ImportError, ValueError) as error:
        raise CommandError(str(error)) from error
    except (URLError, OSError) as error:
        raise CommandError(f"{name}: the download failed: {error}") from error
    print_line(bunch.DESCR.strip())
