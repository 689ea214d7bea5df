"""`dssc datasets`: the paper's data sets, and which of them are at hand."""

import argparse

from dssc.cli.console import say, say_json
from dssc.cli.exits import CommandError

# Data sets by name: module, constant and loader, in dssc.datasets.
SETS = {
    "yaleb": ("faces", "YALEB", "fetch_yaleb"),
    "orl": ("faces", "ORL", "fetch_orl"),
    "umist": ("faces", "UMIST", "fetch_umist"),
    "coil100": ("objects", "COIL", "fetch_coil"),
    "mnist": ("digits", "MNIST", "fetch_mnist"),
    "emnist_letters": ("digits", "EMNIST", "fetch_emnist_letters"),
}


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "datasets",
        help="list the paper's data sets, or fetch one",
        description="List the data sets of the paper and whether they are at hand. A prepared "
        ".npz file can be clustered as it is: dssc cluster FOLDER/orl.npz -k 40 --labels labels",
    )
    parser.add_argument(
        "--data-home",
        metavar="FOLDER",
        help="folder of the data; default: the environment variable DSSC_DATA, else ~/.cache/dssc",
    )
    parser.add_argument(
        "--fetch", choices=tuple(SETS), metavar="NAME", help="load one, after a download if needed"
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """List the data sets, or fetch one."""
    from dssc.datasets.base import data_folder

    if args.fetch:
        return _fetch(args.fetch, args.data_home)
    folder = data_folder(args.data_home)
    found = [_describe(name, folder) for name in SETS]
    if args.json:
        say_json({"folder": str(folder), "datasets": found})
        return 0
    say(f"in {folder}:\n{'name':16} {'samples':>8} {'classes':>8} {'shape':>12}  at hand")
    for entry in found:
        size = " x ".join(map(str, entry["shape"]))
        say(
            f"{entry['name']:16} {entry['n_samples']:8,} {entry['n_classes']:8} {size:>12}  "
            f"{entry['file'] or ('no; dssc datasets --fetch ' + entry['name'])}"
        )
    return 0


def _describe(name, folder):
    from importlib import import_module

    module, constant, _ = SETS[name]
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


def _fetch(name, data_home):
    from urllib.error import URLError

    import dssc

    try:
        bunch = getattr(dssc, SETS[name][2])(data_home=data_home)
    except (FileNotFoundError, ImportError, ValueError) as error:
        raise CommandError(str(error)) from error
    except (URLError, OSError) as error:
        raise CommandError(f"{name}: the download failed: {error}") from error
    say(bunch.DESCR.strip())
    return 0
