"""What the command says: results on standard output, everything else on standard error."""

import json
import os
import sys


def say(text: str) -> None:
    """Write a line of results."""
    sys.stdout.write(f"{text}\n")


def say_json(document: dict) -> None:
    """Write the results for a script."""
    say(json.dumps(document, indent=2, ensure_ascii=False))


def complain(text: str) -> None:
    """Write a line that is no result."""
    sys.stderr.write(f"dssc: {text}\n")


def forget_output() -> None:
    """Let nothing more be written to a pipe that its reader has closed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
