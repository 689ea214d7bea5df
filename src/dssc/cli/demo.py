"""`dssc demo`: a clustering of the digits that come with scikit-learn."""

import argparse
from pathlib import Path
from typing import Any

from dssc._progress import Progress
from dssc.cli import Subparsers
from dssc.cli.console import print_line
from dssc.cli.exits import OK, OutputError

# Pixels per side of a digit.
SIDE = 8
# Parameters of the clustering. They are given so that the demonstration takes only seconds; ADSSC
# would select them otherwise.
PARAMETERS: dict[str, Any] = {"eta1": 1.0, "n_neighbors": 12}


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "demo",
        help="cluster built-in digits, without any files",
        description="Cluster 1,797 handwritten digits of 8 x 8 pixels, which come with "
        "scikit-learn, and compare with k-means.",
    )
    parser.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report with pictures, one .html file"
    )
    parser.add_argument(
        "--files",
        type=Path,
        metavar="FOLDER",
        help="only write the digits to a new folder, as digits.csv and as images, to try "
        "`dssc cluster` with them",
    )
    parser.add_argument("--force", action="store_true", help="replace an existing report")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Cluster the digits, or write them to files."""
    from sklearn.cluster import KMeans
    from sklearn.datasets import load_digits

    from dssc import ADSSC, clustering_accuracy
    from dssc.cli.cluster import write_results
    from dssc.cli.fitting import add_verdict, fit_model
    from dssc.cli.preparing import prepare
    from dssc.cli.reading.samples import Samples
    from dssc.cli.writing import check_ending, check_outputs

    digits = load_digits()
    if args.files is not None:
        _write_files(digits, args.files)
        return OK
    if args.report is not None:
        check_outputs([check_ending(args.report, (".html", ".htm"))], args.force)
    progress = Progress(0 if args.quiet else 1)
    samples = Samples("digits of scikit-learn", digits.data, digits.target)
    with progress.stage("features"):
        prepared = prepare(samples, image_shape=(SIDE, SIDE))
    model = ADSSC(10, **PARAMETERS, random_state=0, verbose=progress.verbose)
    clustering = fit_model(model, samples, prepared, digits.target, progress)
    with progress.stage("verdict"):
        add_verdict(clustering)
    code = write_results(
        clustering, progress, None, args.report, args.force, False, args.command_line
    )
    labels = KMeans(10, n_init=10, random_state=0).fit_predict(digits.data)
    print_line(f"\nk-means on the pixels: ACC {clustering_accuracy(digits.target, labels):.3f}")
    return code


def _write_files(digits: Any, folder: Path) -> None:
    """Write a table with a column of labels, and a folder of images for each digit."""
    from dssc.report import encode_png

    try:
        folder.mkdir(parents=True)
        rows = [",".join([*(f"pixel{number}" for number in range(SIDE * SIDE)), "digit"])]
        for number, (pixels, label) in enumerate(zip(digits.data, digits.target, strict=True)):
            rows.append(",".join([*(f"{pixel:g}" for pixel in pixels), str(label)]))
            path = folder / "digits" / str(label) / f"{number:04}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(encode_png((pixels.reshape(SIDE, SIDE) * (255 / 16)).astype("uint8")))
        (folder / "digits.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    except OSError as error:
        raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
    print_line(
        f"wrote {folder / 'digits.csv'} and {folder / 'digits'}; try\n"
        f"  dssc cluster {folder / 'digits.csv'} -k 10 --labels digit --report table.html\n"
        f"  dssc cluster {folder / 'digits'} -k 10 --labels folders --report images.html "
        "-o images.csv"
    )
