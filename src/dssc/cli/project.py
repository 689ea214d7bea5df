"""`dssc project`: the doubly stochastic matrix nearest to a similarity."""

import argparse
import warnings
from pathlib import Path
from typing import Any

from dssc._progress import Progress
from dssc.cli.console import complain, say, say_json
from dssc.cli.exits import MEANINGS, NOT_CONVERGED, OK, CommandError

EPILOG = """\
examples:
  dssc project similarity.npy --eta2 0.1
  dssc project affinity.npz --n-neighbors 12 -o plan.npz --json

A sparse plan is written as .npz, which scipy.sparse.load_npz reads; .npy holds all entries.

"""


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "project",
        help="project a square similarity matrix onto the doubly stochastic ones",
        description="Find the doubly stochastic matrix nearest to K / eta2, with a certificate.",
        epilog=EPILOG + MEANINGS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "data", metavar="K", type=Path, help="square matrix: .npy, .npz (dense or sparse), .mat"
    )
    parser.add_argument("--key", metavar="NAME", help="array of an .npz or .mat with several")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--eta2", type=float, metavar="X", help="regularisation")
    how.add_argument(
        "--n-neighbors", type=int, metavar="N", help="find the eta2 that gives so many a row"
    )
    parser.add_argument(
        "--symmetrize", action="store_true", help="project (K + K') / 2, for a symmetric plan"
    )
    parser.add_argument("--tol", type=float, default=1e-8, metavar="X", help="default: %(default)s")
    parser.add_argument(
        "--max-iter", type=int, default=1000, metavar="N", help="default: %(default)s"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("plan.npz"),
        metavar="FILE",
        help=".npz or .npy; default: %(default)s",
    )
    parser.add_argument("--force", action="store_true", help="replace an output that exists")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Read K, project it, write the plan, and tell."""
    from scipy import sparse

    from dssc.cli.reading.dispatch import ARRAYS, check_exists, read_samples
    from dssc.cli.writing import (
        array_as_bytes,
        check_ending,
        check_outputs,
        sparse_as_bytes,
        write_all,
    )

    check_exists(args.data)
    check_ending(args.output, (".npz", ".npy"))
    check_outputs([args.output], args.force)
    if args.data.suffix.lower() not in ARRAYS:
        raise CommandError(f"{args.data} must be one of {', '.join(ARRAYS)}")
    progress = Progress(0 if args.quiet else 1)
    with progress.stage("reading"):
        K = read_samples(args.data, key=args.key).values
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise CommandError(f"{args.data} has shape {K.shape}; a similarity must be square")
    with progress.stage("projection"):
        result = _project(K, args)
    plan = result.plan
    if args.output.suffix.lower() == ".npz":
        content = sparse_as_bytes(plan)
    else:
        content = array_as_bytes(plan.toarray() if sparse.issparse(plan) else plan)
    write_all({args.output: content}, args.force)
    _tell(args, result, progress)
    return OK if result.converged else NOT_CONVERGED


def _project(K, args):
    from dssc._validation import check_count, check_positive
    from dssc.stochastic import ProjectionProblem, project_to_neighbors
    from dssc.stochastic.problem import check_similarity

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the status says the same, in the summary
        try:
            K = check_similarity((K + K.T) / 2 if args.symmetrize else K)
            options: dict[str, Any] = {
                "tol": check_positive("tol", args.tol),
                "max_iter": check_count("max_iter", args.max_iter),
            }
            problem = ProjectionProblem(K)
            if args.eta2 is not None:
                return problem.solve(check_positive("eta2", args.eta2), **options)
            n_neighbors = check_count("n_neighbors", args.n_neighbors)
            if n_neighbors >= K.shape[0]:
                raise ValueError(f"n_neighbors={n_neighbors} must be below n={K.shape[0]}")
            return project_to_neighbors(problem, n_neighbors, **options)
        except ValueError as error:
            raise CommandError(f"{args.data}: {error}") from error


def _tell(args, result, progress):
    from dssc.metrics import nonzeros_per_point

    n, nonzeros = result.plan.shape[0], nonzeros_per_point(result.plan)
    if not result.converged:
        complain(f"warning: {result.status}")
    if args.json:
        say_json(
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
    say(
        f"{args.data}: {n:,} x {n:,}, projected with eta2 = {result.eta2:.4g} "
        f"in {progress.seconds['projection']:.2f} s\n"
        f"  {'plan':12} {nonzeros:.1f} nonzeros a row\n"
        f"  {'certificate':12} {result.status}\n"
        f"  {'wrote':12} {args.output}"
    )
