"""Output of the command: results on standard output, everything else on standard error."""

import io
import json
import os
import sys
from typing import Any


def print_line(text: str) -> None:
    """Write a line of results."""
    sys.stdout.write(f"{text}\n")


def print_bytes(content: bytes) -> None:
    """Write results that are the content of a file."""
    sys.stdout.flush()
    sys.stdout.buffer.write(content)


def print_json(document: dict[str, Any]) -> None:
    """Write the results as JSON, in ASCII if the output cannot hold all characters (Windows)."""
    text = json.dumps(document, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(document, indent=2)
    print_line(text)


def print_message(text: str) -> None:
    """Write a line that is not a result: progress, a warning or an error."""
    sys.stderr.write(f"dssc: {' '.join(text.split())}\n")


def show_any_text() -> None:
    """Write characters that the terminal cannot show, as in names of files, as escape codes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def discard_output() -> None:
    """Discard further output, after the reader of a pipe has closed it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
