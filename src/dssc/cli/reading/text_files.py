"""Text files, compressed or not, in any encoding."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from dssc.cli.exits import CommandError
from dssc.cli.reading.expansion import check_expanded, largest_expansion

# Marks at the start of a file in UTF-16.
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class _Expanding(io.RawIOBase):
    """The content of a compressed file, which ends in an error if it is larger than it may be."""

    def __init__(self, path: Path, file: gzip.GzipFile) -> None:
        self.path, self.file = path, file
        self.limit = largest_expansion(path)
        self.n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        content = self.file.read(len(buffer))
        buffer[: len(content)] = content
        self.n_bytes += len(content)
        if self.n_bytes > self.limit:
            check_expanded(self.path, self.n_bytes)
        return len(content)


@contextmanager
def open_text(path: Path, encoding: str | None = None) -> Iterator[TextIO]:
    """Open a text file; by default in UTF-8, or in UTF-16 if it begins with its mark."""
    if encoding is not None:
        _check_encoding(encoding)
    try:
        with _open_bytes(path) as content:
            used = encoding or _encoding_of(content)
            with io.TextIOWrapper(content, encoding=used, newline="") as file:
                yield file
    except (UnicodeDecodeError, UnicodeError) as error:
        advice = (
            "try --encoding cp1252 or latin-1" if encoding is None else "try another --encoding"
        )
        used = encoding or "UTF-8"
        raise CommandError(f"{path} is not text in {used}: {error}; {advice}") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CommandError(f"{path} is not a readable gzip file: {error}") from error


@contextmanager
def _open_bytes(path: Path) -> Iterator[io.BufferedReader]:
    with path.open("rb") as file:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(fileobj=file) as compressed:
                yield io.BufferedReader(_Expanding(path, compressed))
        else:
            yield cast("io.BufferedReader", cast("BinaryIO", file))


def _encoding_of(content: io.BufferedReader) -> str:
    return "utf-16" if content.peek(2)[:2] in UTF_16_MARKS else "utf-8-sig"


def _check_encoding(encoding: str) -> None:
    try:
        "".encode(encoding)
    except LookupError:
        raise CommandError(
            f"--encoding {encoding} is not known; examples: utf-8, cp1252, utf-16"
        ) from None
