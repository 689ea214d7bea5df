"""`dssc cluster`: labels for a table of features or a folder of images."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dssc._progress import Progress
from dssc.cli import Subparsers
from dssc.cli.console import print_bytes, print_json, print_line, print_message
from dssc.cli.exits import EXIT_CODES, NOT_CONVERGED, OK, CommandError
from dssc.cli.methods import MethodHelpFormatter, add_method_options, build_estimator, check_device
from dssc.cli.reading.formats import FORMATS

if TYPE_CHECKING:
    from dssc.cli.fitting import Clustering
    from dssc.cli.reading.samples import Samples

# The methods that take weights of samples.
WEIGHTED = ("adssc", "graph")
# Examples at the end of the help.
EPILOG = """\
examples:
  dssc cluster features.npy -k 10
  dssc cluster digits.csv -k 10 --labels digit --image-shape 8x8 --report digits.html
  dssc cluster photos/ -k 5 --size 64x64 --labels folders -o photos.csv
  dssc cluster faces.mat -k 38 --key X --transpose --features raw --eta1 0.5 --eta2 0.1
  dssc cluster embeddings.parquet -k auto --id doc --pca 200 --json > summary.json
  dssc cluster cells.h5ad -k 8 --key X_pca --labels cell_type
  dssc cluster 'part-*.csv.gz' -k 10 --id name
  dssc cluster - -k 10 -o - < features.csv > labels.csv

Rows are scaled to unit norm by every method. Labels are numbers from 0.

"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "cluster",
        help="cluster a table of features or a folder of images",
        usage="dssc cluster DATA -k K [options]",
        description="Cluster the rows of a table or the images of a folder, and write a label for "
        "each.",
        epilog=EPILOG + EXIT_CODES,
        formatter_class=MethodHelpFormatter,
    )
    parser.add_argument(
        "data",
        metavar="DATA",
        type=Path,
        nargs="+",
        help=f"{', '.join(FORMATS)}, images or a folder of them, or - for standard input; several "
        "files or a quoted pattern such as '*.csv' are read one after the other",
    )
    parser.add_argument(
        "-k",
        "--n-clusters",
        type=count_or_auto,
        required=True,
        metavar="K",
        help="number of clusters, or 'auto' to estimate it",
    )
    _add_input_options(parser)
    _add_feature_options(parser)
    add_method_options(parser)
    _add_output_options(parser)
    parser.set_defaults(run=run)


def _add_input_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("input")
    group.add_argument(
        "--key",
        metavar="NAME",
        help="array of a file that holds several, sheet of a workbook, or embedding of an .h5ad",
    )
    group.add_argument(
        "--labels",
        metavar="NAME",
        help="known classes to score against, never used for clustering: a column or array of "
        "DATA, 'folders' for the folders of the images, or a file (of a text file the last column)",
    )
    group.add_argument(
        "--id",
        metavar="NAME",
        help="column or array with the name of each sample, for the output and the report",
    )
    group.add_argument(
        "--weights",
        metavar="NAME",
        help="how often each sample counts: a column of DATA, or a file as for --labels",
    )
    group.add_argument(
        "--drop", metavar="NAME", action="append", default=[], help="leave out a column; repeatable"
    )
    group.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether the first line of a text file has the names of the columns; default: if it "
        "has no numbers",
    )
    group.add_argument(
        "--sep", metavar="C", help="character between cells of a text file, or tab or space"
    )
    group.add_argument(
        "--decimal", metavar="C", help="decimal point of a text file: a point or a comma"
    )
    group.add_argument(
        "--encoding", metavar="NAME", help="encoding of a text file; default: UTF-8 or UTF-16"
    )
    group.add_argument("--transpose", action="store_true", help="columns of DATA are samples")
    group.add_argument(
        "--size", type=shape, metavar="HxW", help="resize all images of a folder to this size"
    )
    group.add_argument(
        "--skip-bad",
        action="store_true",
        help="pass over images that cannot be read and rows that are zero or not finite; they get "
        "the label -1",
    )
    group.add_argument(
        "--image-shape", type=shape, metavar="HxW[x3]", help="rows of DATA are pixels of images"
    )


def _add_feature_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("features")
    group.add_argument(
        "--features",
        choices=("raw", "scattered"),
        help="values as they are, or the paper's scattering of images; default: scattered for "
        "images, raw otherwise",
    )
    group.add_argument(
        "--scale",
        choices=("none", "center", "standard"),
        default="none",
        help="subtract the mean of each feature (center), and divide by its standard deviation "
        "(standard); default: %(default)s",
    )
    group.add_argument(
        "--pca",
        type=int,
        metavar="D",
        help="project on D uncentred principal components; default: 500 for scattered features, "
        "no projection otherwise",
    )


def _add_output_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("labels.csv"),
        metavar="FILE",
        help="file of the labels, .csv or .npy, or - for standard output; default: %(default)s",
    )
    group.add_argument(
        "--report", type=Path, metavar="FILE", help="write a report with pictures, one .html file"
    )
    group.add_argument(
        "--verdict",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="say what the clusters are worth, by clustering halves of the samples; about as much "
        "work as the clustering itself; default: yes, with the default method",
    )
    group.add_argument("--force", action="store_true", help="replace existing outputs")
    group.add_argument("--json", action="store_true", help="print the summary as JSON")
    group.add_argument("-q", "--quiet", action="store_true", help="show no progress")


def count_or_auto(text: str) -> int | None:
    """Return a number of clusters, or None for 'auto'."""
    if text == "auto":
        return None
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} must be a number or 'auto'") from None


def shape(text: str) -> tuple[int, ...]:
    """Return the shape given by a text such as 32x32."""
    sides = text.lower().split("x")
    if len(sides) not in (2, 3) or not all(s.isdecimal() and int(s) > 0 for s in sides):
        raise argparse.ArgumentTypeError(f"{text!r} must have the form 32x32")
    return tuple(int(side) for side in sides)


def run(args: argparse.Namespace) -> int:
    """Read the data, compute features, cluster, write the outputs and print the summary."""
    from dssc.cli.fitting import add_verdict, fit_model
    from dssc.cli.preparing import prepare

    _check(args)
    progress = Progress(0 if args.quiet else 1)
    model = build_estimator(args, progress.verbose)
    if args.skip_bad and _has_similarities(args):
        model.set_params(invalid_rows="label")
    with progress.stage("reading"):
        samples = _read(args)
    with progress.stage("features"):
        prepared = prepare(
            samples,
            image_shape=args.image_shape,
            features=args.features,
            scale=args.scale,
            pca=args.pca,
        )
    clustering = fit_model(model, samples, prepared, samples.labels, progress)
    if args.verdict:
        with progress.stage("verdict"):
            add_verdict(clustering)
    return write_results(
        clustering,
        progress,
        args.output,
        args.report,
        args.force,
        args.json,
        args.command_line,
    )


def _check(args: argparse.Namespace) -> None:
    """Refuse paths and options that cannot be used, before anything is read."""
    from dssc.cli.reading.sources import STANDARD, find_sources
    from dssc.cli.writing import check_ending, check_outputs

    args.data = find_sources(args.data)
    outputs = []
    if args.output != STANDARD:
        outputs.append(check_ending(args.output, (".csv", ".npy")))
    elif args.json:
        raise CommandError("--json and -o - both write to standard output; give a file to -o")
    if args.report is not None:
        outputs.append(check_ending(args.report, (".html", ".htm")))
    inputs = [path for path in args.data if path != STANDARD]
    inputs += [Path(name) for name in (args.labels, args.weights) if name and Path(name).is_file()]
    check_outputs(outputs, args.force, inputs)
    if args.device is not None:
        check_device(args.device)
    if args.size is not None and len(args.size) != 2:
        raise CommandError("--size takes a height and a width, such as 32x32")
    if args.image_shape is not None and args.image_shape[2:] not in ((), (3,)):
        raise CommandError("--image-shape takes HxW or HxWx3")
    if args.weights is not None and args.method not in WEIGHTED:
        raise CommandError(f"--weights is for --method {' or '.join(WEIGHTED)}")
    if args.n_clusters is not None and args.n_clusters < 1:
        raise CommandError(f"-k {args.n_clusters} must be at least 1")


def _has_similarities(args: argparse.Namespace) -> bool:
    """Return whether DATA has similarities, whose rows and columns belong together."""
    return args.method == "graph" and args.affinity in (None, "precomputed")


def _read(args: argparse.Namespace) -> "Samples":
    """Return the samples with their known classes."""
    from dssc.cli.reading.dispatch import read_sources
    from dssc.cli.reading.labels import read_labels
    from dssc.cli.reading.reader import ReadOptions
    from dssc.cli.reading.weights import take_weights

    options = ReadOptions(
        labels=args.labels,
        id=args.id,
        key=args.key,
        transpose=args.transpose,
        drop=tuple(args.drop),
        header=args.header,
        sep=args.sep,
        decimal=args.decimal,
        encoding=args.encoding,
        size=args.size,
        skip_bad=args.skip_bad,
    )
    samples = read_sources(args.data, options)
    if args.labels is not None:
        samples.labels = read_labels(args.labels, samples)
    if args.weights is not None:
        samples = take_weights(args.weights, samples)
    if not _has_similarities(args):
        samples = samples.check(args.skip_bad)
    if args.n_clusters is not None and args.n_clusters > samples.values.shape[0]:
        raise CommandError(
            f"-k {args.n_clusters} asks for more clusters than the "
            f"{samples.values.shape[0]} samples of {samples.source}"
        )
    return samples


def write_results(
    clustering: "Clustering",
    progress: Progress,
    output: Path | None,
    report: Path | None,
    force: bool,
    as_json: bool,
    command: str,
) -> int:
    """Write the outputs of a clustering, print its summary and return the exit code.

    The report names the command that was run. With labels on standard output, the summary goes to
    standard error.
    """
    from dssc.cli.label_table import labels_as_bytes
    from dssc.cli.reading.sources import STANDARD
    from dssc.cli.reporting import report_page
    from dssc.cli.summary import as_text, summarise
    from dssc.cli.writing import write_all

    model, samples = clustering.model, clustering.samples
    contents: dict[Path, bytes] = {}
    written: dict[str, str] = {}
    if output is not None:
        contents[output] = labels_as_bytes(model, samples, output)
        written["labels"] = str(output)
    if report is not None:
        with progress.stage("report"):
            page = report_page(clustering, command)
        contents[report] = page.encode(errors="replace")
        written["report"] = str(report)
    labels = contents.pop(STANDARD, None)
    write_all(contents, force)
    summary = summarise(clustering, _seconds(progress, model), written)
    for warning in clustering.warnings:
        print_message(f"warning: {warning}")
    if as_json:
        print_json(summary)
    elif labels is None:
        print_line(as_text(summary))
    else:
        print_bytes(labels)
        progress.note(as_text(summary))
    return OK if clustering.converged else NOT_CONVERGED


def _seconds(progress: Progress, model: Any) -> dict[str, float]:
    """Return the seconds of all stages in order; those of the fit come from the model."""
    stages = {n: s for n, s in progress.seconds.items() if not n.startswith("clustering by")}
    later = {name: stages.pop(name) for name in ("verdict", "report") if name in stages}
    return {**stages, **model.timings_, **later}
