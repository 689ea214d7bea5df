"""`dssc paper`: the paper's tables and figures, ours beside what was published."""

import argparse
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from dssc.cli.console import complain, say
from dssc.cli.exits import INTERRUPTED, CommandError, OutputError

TABLES = ("table1", "table2", "neural")
FIGURES = ("sparsity", "alternating", "samples")
EXPERIMENTS = (*TABLES, "runtimes", *FIGURES)
DESCRIPTION = """\
Run the paper's experiments with its parameters and protocol, and show ours beside the published
numbers. A line of JSON is kept for every run as it finishes, so that an interrupted command goes
on with --resume. The data must be at hand (dssc datasets); what is missing is shown as such."""


def add_parser(subparsers) -> None:
    """Add the subcommand."""
    parser = subparsers.add_parser(
        "paper", help="reproduce the paper's tables and figures", description=DESCRIPTION
    )
    parser.add_argument("experiment", choices=(*EXPERIMENTS, "all"), metavar="EXPERIMENT")
    parser.epilog = f"EXPERIMENT is one of {', '.join(EXPERIMENTS)}, all"
    parser.add_argument(
        "--datasets", type=_names, default=(), metavar="NAME,...", help="only these; tables only"
    )
    parser.add_argument(
        "--methods", type=_names, default=(), metavar="NAME,...", help="only these; tables only"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="small data sets, one point a method and ten runs of k-means; small runtimes",
    )
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; default 1")
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="NAME",
        help="what A-DSSC (symmetric) and J-DSSC run on: cpu, cuda, cuda:NUMBER, or torch for "
        "PyTorch on the CPU; default cpu",
    )
    parser.add_argument(
        "--resume", action="store_true", help="keep results in --out and add to them"
    )
    parser.add_argument("--render", action="store_true", help="run nothing, show what is there")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("paper-results"),
        metavar="FOLDER",
        help="where results, tables and pictures go; default paper-results",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run the experiments and write their tables and figures."""
    names = EXPERIMENTS if args.experiment == "all" else (args.experiment,)
    if args.jobs < 1:
        raise CommandError(f"--jobs {args.jobs} must be at least 1")
    _check_names(args, names)
    _check_device(args.device)
    results = _open_results(args)
    try:
        if not args.render:
            for name in names:
                _work(name, args, results)
    except KeyboardInterrupt:
        complain(
            f"interrupted; {len(results.lines)} results are kept in {results.path}; "
            "go on with --resume"
        )
        return INTERRUPTED
    _show(names, args, results)
    return 0


def _names(text):
    return tuple(name for name in text.split(",") if name)


def _check_names(args, names):
    """Put --datasets and --methods into the paper's spelling, or say what there is."""
    from dssc.paper.published import read

    for option in ("datasets", "methods"):
        known = {name.lower(): name for name in read(option)}
        for given in getattr(args, option):
            if given.lower() not in known:
                raise CommandError(f"--{option}: {given!r} is none of {', '.join(known.values())}")
        setattr(args, option, tuple(known[given.lower()] for given in getattr(args, option)))
    if (args.datasets or args.methods) and not set(TABLES) & set(names):
        raise CommandError(f"--datasets and --methods are for tables, not for {names[0]}")
    if set(FIGURES) & set(names) and find_spec("matplotlib") is None:
        raise CommandError("figures need matplotlib: pip install 'dssc[plot]'")


def _check_device(device):
    from dssc._devices import torch_device

    try:
        torch_device(device, None)
    except (ValueError, ImportError, RuntimeError) as error:
        raise CommandError(f"--device: {error}") from error


def _open_results(args):
    from dssc.paper.runner import Results

    path = args.out / "results.jsonl"
    if path.exists() and not (args.resume or args.render):
        raise OutputError(f"{path} exists; add --resume to go on with it, or choose another --out")
    try:
        args.out.mkdir(parents=True, exist_ok=True)
        return Results(path)
    except OSError as error:
        raise OutputError(f"cannot write to {args.out}: {error.strerror}") from error
    except ValueError as error:
        raise CommandError(str(error)) from error


def _work(name, args, results):
    from dssc.paper import experiments

    jobs = experiments.jobs_of(name, args.datasets, args.methods, args.quick)
    _work_off(name, jobs, args, results)
    # Known only now; quick runs have no grids.
    _work_off(f"{name}, best points", experiments.best_jobs(jobs, results.lines), args, results)


def _work_off(name, jobs, args, results):
    """Do the jobs that are left and tell of each as it is done."""
    from dssc.paper.rows import in_words
    from dssc.paper.runner import work_off
    from dssc.paper.work import do

    total = len(results.pending(jobs))
    done = work_off(jobs, results, partial(do, folder=args.out, device=args.device), args.jobs)
    for place, result in enumerate(done, 1):
        complain(f"{name} {place} of {total}: {in_words(result)}")


def _show(names, args, results):
    from dssc.paper.pages import write_pages

    for path in write_pages(names, results.lines, args.out):
        say(f"wrote {path}")
