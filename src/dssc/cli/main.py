"""The front door of the command: subcommands, errors and exit codes."""

import argparse
import sys
from importlib import import_module

import dssc
from dssc.cli.console import complain, forget_output
from dssc.cli.exits import BAD_INPUT, INTERRUPTED, MEANINGS, CommandError

# Modules of this package, each with `add_parser(subparsers)`; what they import stays light until
# they run, so that --help is instant.
COMMANDS = ("cluster", "project", "demo", "paper", "datasets", "info")

DESCRIPTION = """\
Doubly stochastic subspace clustering: groups points that lie near a union of
low-dimensional subspaces (faces, objects, digits, embeddings), by an affinity
that is proved optimal."""

EXAMPLES = """\
examples:
  dssc demo --report demo.html                  see what it does, on built-in digits
  dssc cluster features.csv -k 10               labels for the rows of a table
  dssc cluster photos/ -k 5 --report out.html   labels and a report for a folder of images
  dssc cluster --help                           all about clustering

"""


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    args = build_parser().parse_args(argv)
    try:
        code = args.run(args)
        sys.stdout.flush()
        return code
    except CommandError as error:
        complain(f"error: {error}")
        return error.code
    except MemoryError as error:
        complain(f"error: not enough memory: {error or 'the data are too large'}")
        return BAD_INPUT
    except KeyboardInterrupt:
        complain("interrupted; nothing was written")
        return INTERRUPTED
    except BrokenPipeError:
        forget_output()
        return 0


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command with all subcommands."""
    parser = argparse.ArgumentParser(
        prog="dssc",
        description=DESCRIPTION,
        epilog=EXAMPLES + MEANINGS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dssc {dssc.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(f"dssc.cli.{name}").add_parser(subparsers)
    return parser
