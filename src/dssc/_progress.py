"""Progress of long work: a bar on a terminal, plain lines elsewhere, nothing unless asked for."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

WIDTH = 24
REDRAW_SECONDS = 0.1
LINE_SECONDS = 20.0  # between lines where nothing can be redrawn

Advance = Callable[[float], None]


class Progress:
    """Measures the stages of a run and, when `verbose`, shows them on standard error.

    Attributes
    ----------
    seconds : dict
        Seconds by stage, without the stages inside it, in the order they ended.
    """

    def __init__(self, verbose: int = 0):
        self.verbose = verbose
        self.seconds: dict[str, float] = {}
        self._inner = 0.0  # seconds of the stages that ended inside the current one

    @contextmanager
    def stage(self, name: str, total: float | None = None, unit: str = "") -> Iterator[Advance]:
        """Announce a stage; the block gets a function that it calls with the work done since."""
        line = _Line(name, total, unit) if self.verbose else None
        outer, self._inner = self._inner, 0.0
        start = time.perf_counter()
        try:
            yield line.advance if line else _ignore
        finally:
            elapsed = time.perf_counter() - start
            own = elapsed - self._inner
            self.seconds[name] = self.seconds.get(name, 0.0) + own
            self._inner = outer + elapsed
            if line:
                line.close(own)


def _ignore(amount: float) -> None:
    pass


class _Line:
    """One stage's line: redrawn on a terminal, written again now and then elsewhere."""

    def __init__(self, name, total, unit):
        self.name, self.total, self.unit = name, total, unit
        self.done = 0.0
        self.start = self.shown = time.monotonic()
        self.stream = sys.stderr
        self.redraws = self.stream.isatty()
        if self.redraws:
            self._write(self._text())

    def advance(self, amount):
        self.done += amount
        now = time.monotonic()
        if now - self.shown >= (REDRAW_SECONDS if self.redraws else LINE_SECONDS):
            self.shown = now
            self._write(self._text())

    def close(self, seconds):
        self._write(f"{self.name}: {seconds:.1f} s{self._rate(seconds)}", end="\n")

    def _text(self):
        elapsed = time.monotonic() - self.start
        text = f"{self.name}:"
        if self.total:
            share = min(1.0, self.done / self.total)
            filled = round(WIDTH * share)
            text += f" [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}{self._rate(elapsed)}"
            if share > 0:
                text += f", {elapsed * (1 - share) / share:.0f} s left"
        return text

    def _rate(self, seconds):
        return f", {self.done / seconds:.3g} {self.unit}/s" if self.done and seconds else ""

    def _write(self, text, end=""):
        self.stream.write(f"\r\x1b[K{text}{end}" if self.redraws else f"{text}\n")
        self.stream.flush()
