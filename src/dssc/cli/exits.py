"""How the command ends: what an exit code means, and the errors that lead to one."""

OK = 0
BAD_INPUT = 2
NOT_CONVERGED = 3
NOT_WRITTEN = 4
INTERRUPTED = 130

MEANINGS = """\
exit codes:
  0    done
  1    a fault of dssc itself, shown with its traceback
  2    the command line or the data cannot be used; nothing was written
  3    done and written, but a solver fell short of its tolerance
  4    an output exists already or cannot be written; nothing was written
  130  interrupted; nothing was written (paper: what was finished is kept)
"""


class CommandError(Exception):
    """The command line or the data cannot be used; the message says what to change."""

    code = BAD_INPUT


class OutputError(CommandError):
    """A file cannot be written, or must not be."""

    code = NOT_WRITTEN
