"""`dssc project`: the doubly stochastic matrix closest to a similarity matrix."""

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from dssc._progress import Progress
from dssc.cli import Subparsers
from dssc.cli.console import print_json, print_line, print_message
from dssc.cli.exits import EXIT_CODES, NOT_CONVERGED, OK, CommandError
from dssc.cli.reading.formats import ARRAY_FORMATS

if TYPE_CHECKING:
    from dssc._typing import Matrix
    from dssc.result import ProjectionResult

# Examples at the end of the help.
EPILOG = """\
examples:
  dssc project similarity.npy --eta2 0.1
  dssc project affinity.npz --n-neighbors 12 -o plan.npz --json

An .npz file holds a sparse matrix for scipy.sparse.load_npz; an .npy file holds all entries.

"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "project",
        help="project a square similarity matrix onto the doubly stochastic ones",
        description="Find the doubly stochastic matrix closest to K / eta2, with a certificate.",
        epilog=EPILOG + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "data",
        metavar="K",
        type=Path,
        help=f"square matrix, dense or sparse: {', '.join(ARRAY_FORMATS)}",
    )
    parser.add_argument("--key", metavar="NAME", help="array of a file that holds several")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--eta2", type=float, metavar="X", help="regularisation")
    how.add_argument(
        "--n-neighbors",
        type=int,
        metavar="N",
        help="find the eta2 that gives this many neighbours per row",
    )
    parser.add_argument(
        "--symmetrize", action="store_true", help="project (K + K') / 2, for a symmetric plan"
    )
    parser.add_argument(
        "--tol",
        type=float,
        default=1e-8,
        metavar="X",
        help="tolerance of the certificate; default: %(default)s",
    )
    parser.add_argument(
        "--max-iter",
        type=int,
        default=1000,
        metavar="N",
        help="largest number of Newton steps; default: %(default)s",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("plan.npz"),
        metavar="FILE",
        help=".npz or .npy; default: %(default)s",
    )
    parser.add_argument("--force", action="store_true", help="replace an existing output")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read K, project it, write the result and print the summary."""
    from dssc.cli.reading.dispatch import read_samples
    from dssc.cli.reading.reader import ReadOptions
    from dssc.cli.reading.sources import check_exists
    from dssc.cli.writing import check_ending, check_outputs, matrix_as_bytes, write_all

    check_exists(args.data)
    check_ending(args.output, (".npz", ".npy"))
    check_outputs([args.output], args.force, [args.data])
    check_ending(args.data, tuple(ARRAY_FORMATS))
    progress = Progress(0 if args.quiet else 1)
    with progress.stage("reading"):
        K = read_samples(args.data, ReadOptions(key=args.key)).values
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise CommandError(f"{args.data} has shape {K.shape}; a similarity must be square")
    with progress.stage("projection"):
        result = _project(K, args)
    write_all({args.output: matrix_as_bytes(result.plan, args.output)}, args.force)
    _print_summary(args, result, progress)
    return OK if result.converged else NOT_CONVERGED


def _project(K: "Matrix", args: argparse.Namespace) -> "ProjectionResult":
    from dssc import project_doubly_stochastic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the summary shows the status instead
        try:
            if args.symmetrize:
                K = (K + K.T) / 2
            return project_doubly_stochastic(
                K,
                args.eta2,
                n_neighbors=args.n_neighbors,
                tol=args.tol,
                max_iter=args.max_iter,
            )
        except ValueError as error:
            raise CommandError(f"{args.data}: {error}") from error


def _print_summary(
    args: argparse.Namespace, result: "ProjectionResult", progress: Progress
) -> None:
    from dssc.metrics import nonzeros_per_point

    n, nonzeros = result.plan.shape[0], nonzeros_per_point(result.plan)
    if not result.converged:
        print_message(f"warning: {result.status}")
    if args.json:
        print_json(
            {
                "data": str(args.data),
                "n": n,
                "eta2": result.eta2,
                "nonzeros_per_point": nonzeros,
                "marginal_error": result.marginal_error,
                "gap": result.gap,
                "n_iter": result.n_iter,
                "converged": bool(result.converged),
                "status": result.status,
                "seconds": {name: round(value, 4) for name, value in progress.seconds.items()},
                "outputs": {"plan": str(args.output)},
            }
        )
        return
    print_line(
        f"{args.data}: {n:,} x {n:,}, projected with eta2 = {result.eta2:.4g} "
        f"in {progress.seconds['projection']:.2f} s\n"
        f"  {'plan':12} {nonzeros:.1f} nonzeros per row\n"
        f"  {'certificate':12} {result.status}\n"
        f"  {'wrote':12} {args.output}"
    )
