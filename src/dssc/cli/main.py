"""The entry point of the command: subcommands, errors and exit codes."""

import argparse
import errno
import shlex
import sys
import warnings
from importlib import import_module
from typing import Any

import dssc
from dssc.cli.console import discard_output, print_message, show_any_text
from dssc.cli.exits import BAD_INPUT, EXIT_CODES, INTERRUPTED, OK, CommandError

# The subcommands: modules of this package with a function `add_parser(subparsers)`. They import
# heavy modules only when they run, so that --help is quick.
COMMANDS = ("cluster", "project", "demo", "paper", "datasets", "info")

# Description of the command.
DESCRIPTION = """\
Doubly stochastic subspace clustering: groups points that lie near a union of
low-dimensional subspaces (faces, objects, digits, embeddings), by an affinity
that is proved optimal."""

# Examples at the end of the help.
EXAMPLES = """\
examples:
  dssc demo --report demo.html                  try it on built-in digits
  dssc cluster features.csv -k 10               labels for the rows of a table
  dssc cluster photos/ -k 5 --report out.html   labels and a report for a folder of images
  dssc cluster --help                           all options of clustering

"""


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit code."""
    show_any_text()
    args = build_parser().parse_args(argv)
    # What makes the result again, for the report.
    args.command_line = shlex.join(["dssc", *(sys.argv[1:] if argv is None else argv)])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            code = args.run(args)
        sys.stdout.flush()
        return code
    except CommandError as error:
        print_message(f"error: {error}")
        return error.code
    except OSError as error:
        if _is_closed_pipe(error):
            discard_output()
            return OK
        print_message(f"error: {error.filename or 'the system'}: {error.strerror or error}")
        return BAD_INPUT
    except MemoryError as error:
        print_message(f"error: not enough memory: {error or 'the data are too large'}")
        return BAD_INPUT
    except KeyboardInterrupt:
        print_message("interrupted; nothing was written")
        return INTERRUPTED


def _show_warning(message: Warning | str, *place: Any, **further: Any) -> None:
    """Write a warning in one line: where in Python it was raised is of no use here."""
    print_message(f"warning: {message}")


def _is_closed_pipe(error: OSError) -> bool:
    """Return whether the reader of the output has gone, as `head` does."""
    is_invalid = error.errno == errno.EINVAL and error.filename is None  # what Windows reports
    return isinstance(error, BrokenPipeError) or (sys.platform == "win32" and is_invalid)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command with all subcommands."""
    parser = argparse.ArgumentParser(
        prog="dssc",
        description=DESCRIPTION,
        epilog=EXAMPLES + EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dssc {dssc.__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(f"dssc.cli.{name}").add_parser(subparsers)
    return parser
