"""`dssc paper`: the paper's tables and figures, with our numbers beside the published ones."""

import argparse
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from dssc.cli import Subparsers
from dssc.cli.console import print_line, print_message
from dssc.cli.exits import INTERRUPTED, OK, CommandError, OutputError
from dssc.cli.methods import check_device
from dssc.paper.experiments import EXPERIMENTS, FIGURES, TABLES, Job, best_jobs, jobs_of
from dssc.paper.published import paper_data

if TYPE_CHECKING:
    from dssc.paper.runner import Results

# The file of results in the folder of the outputs.
RESULTS = "results.jsonl"

# Description of the subcommand.
DESCRIPTION = """\
Run the paper's experiments with its parameters and protocol, and show our numbers beside the
published ones. Each finished run adds a line of JSON, so that an interrupted command can continue
with --resume. The data must be available (see dssc datasets); missing data are reported in the
tables."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "paper",
        help="reproduce the paper's tables and figures",
        description=DESCRIPTION,
        epilog=f"EXPERIMENT is one of {', '.join(EXPERIMENTS)}, all",
    )
    parser.add_argument("experiment", choices=(*EXPERIMENTS, "all"), metavar="EXPERIMENT")
    parser.add_argument(
        "--datasets",
        type=_names,
        nargs="+",
        default=(),
        metavar="NAME",
        help="restrict a table to these data sets; names may be separated by commas",
    )
    parser.add_argument(
        "--methods",
        type=_names,
        nargs="+",
        default=(),
        metavar="NAME",
        help="restrict a table to these methods, likewise",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="only small data sets, one set of parameters per method and ten runs of k-means; "
        "small problems for runtimes",
    )
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="number of processes; default: 1"
    )
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="NAME",
        help="device of DSC-Net, J-DSSC and the symmetric A-DSSC: cpu, cuda, cuda:NUMBER, or torch "
        "for PyTorch on the CPU; default: cpu",
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep the results in --out and add to them"
    )
    parser.add_argument(
        "--render", action="store_true", help="run nothing, write the tables of existing results"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paper-results"),
        metavar="FOLDER",
        help="folder for results, tables and pictures; default: %(default)s",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the experiments and write their tables and figures."""
    from dssc.paper.pages import write_pages

    args.datasets, args.methods = _flat(args.datasets), _flat(args.methods)
    names = EXPERIMENTS if args.experiment == "all" else (args.experiment,)
    if args.jobs < 1:
        raise CommandError(f"--jobs {args.jobs} must be at least 1")
    _check_names(args, names)
    check_device(args.device)
    plan = {name: jobs_of(name, args.datasets, args.methods, args.quick) for name in names}
    if not args.render and not (args.out / RESULTS).exists():
        _check_data([job for jobs in plan.values() for job in jobs], args.device)
    results = _open_results(args)
    try:
        if not args.render:
            for name, jobs in plan.items():
                _run_jobs(name, jobs, args, results)
                # The best points of the grids are known now; quick runs have no grids.
                _run_jobs(f"{name}, best points", best_jobs(jobs, results.lines), args, results)
    except KeyboardInterrupt:
        print_message(
            f"interrupted; {len(results.lines)} results are kept in {results.path}; "
            "continue with --resume"
        )
        return INTERRUPTED
    for path in write_pages(names, results.lines, args.out):
        print_line(f"wrote {path}")
    return OK


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _flat(groups: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for group in groups for name in group)


def _check_names(args: argparse.Namespace, names: tuple[str, ...]) -> None:
    """Convert --datasets and --methods to the paper's spelling, and check that they apply."""
    for option in ("datasets", "methods"):
        known = {name.lower(): name for name in paper_data(option)}
        for given in getattr(args, option):
            if given.lower() not in known:
                raise CommandError(
                    f"--{option}: {given!r} is not one of {', '.join(known.values())}"
                )
        setattr(args, option, tuple(known[given.lower()] for given in getattr(args, option)))
    if (args.datasets or args.methods) and not set(TABLES) & set(names):
        raise CommandError(f"--datasets and --methods are for tables, not for {names[0]}")
    if set(FIGURES) & set(names) and find_spec("matplotlib") is None:
        raise CommandError("figures need matplotlib: pip install 'dssc[plot]'")


def _check_data(jobs: list[Job], device: str) -> None:
    """Refuse to start if the data of all jobs are missing."""
    from dssc.paper.execution import why_not_available

    reason = None
    for job in {(job["kind"], job["data"]): job for job in jobs}.values():
        reason = why_not_available(job, device)
        if reason is None:
            return
    if reason is not None:
        names = ", ".join(dict.fromkeys(str(job["data"]) for job in jobs))
        raise CommandError(f"none of the data sets ({names}) is available; for example: {reason}")


def _open_results(args: argparse.Namespace) -> "Results":
    from dssc.paper.runner import Results

    path = args.out / RESULTS
    if path.exists() and not (args.resume or args.render):
        raise OutputError(f"{path} exists; add --resume to continue it, or choose another --out")
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        return Results(path)
    except OSError as error:
        raise OutputError(f"cannot write to {args.out}: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(str(error)) from error


def _run_jobs(name: str, jobs: list[Job], args: argparse.Namespace, results: "Results") -> None:
    """Run the jobs without a result, and print each result."""
    from dssc.paper.execution import run_job
    from dssc.paper.runner import run_pending
    from dssc.paper.table_rows import result_text

    total = len(results.pending(jobs))
    run_one = partial(run_job, folder=args.out, device=args.device)
    missing = set()
    for number, result in enumerate(run_pending(jobs, results, run_one, args.jobs), 1):
        if result.get("missing"):  # the same for every method
            if result["data"] in missing:
                continue
            missing.add(result["data"])
        print_message(f"{name} {number} of {total}: {result_text(result)}")
