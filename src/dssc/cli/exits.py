"""Exit codes of the command, and the errors that lead to them."""

OK = 0
BAD_INPUT = 2
NOT_CONVERGED = 3
NOT_WRITTEN = 4
INTERRUPTED = 130

# Explanation of the exit codes, for the help texts.
EXIT_CODES = """\
exit codes:
  0    done
  1    an internal error of dssc, shown with its traceback
  2    the command line or the data cannot be used; nothing was written
  3    done and written, but a solver did not reach its tolerance
  4    an output exists already or cannot be written; nothing was written
  130  interrupted; nothing was written (paper: finished runs are kept)
"""


class CommandError(Exception):
    """The command line or the data cannot be used; the message says what to change."""

    code = BAD_INPUT


class OutputError(CommandError):
    """A file cannot be written, or must not be replaced."""

    code = NOT_WRITTEN
