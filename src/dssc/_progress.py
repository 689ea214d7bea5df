"""Progress of long computations: a bar on a terminal, plain lines elsewhere, silent by default."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Characters of a full progress bar.
BAR_WIDTH = 24
# Least time between two drawings of the bar on a terminal.
REDRAW_SECONDS = 0.1
# Least time between two lines where nothing can be redrawn, such as in a file.
LINE_SECONDS = 20.0

Advance = Callable[[float], None]


class Progress:
    """Measures the stages of a computation and, if `verbose`, shows them on standard error.

    Attributes
    ----------
    seconds : dict
        Seconds by stage, without the stages inside it, in the order in which they ended.
    counts : dict
        Numbers that say how much was done, by name.
    """

    def __init__(self, verbose: int = 0) -> None:
        self.verbose = verbose
        self.seconds: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self._inner = 0.0  # seconds of the stages that ended inside the current one

    def note(self, text: str) -> None:
        """Show a line of text, if `verbose`."""
        if self.verbose and text:
            clear = "\r\x1b[K" if sys.stderr.isatty() else ""  # the line of the current stage
            sys.stderr.write(f"{clear}{text}\n")
            sys.stderr.flush()

    def count(self, name: str, number: int) -> None:
        """Set a number that says how much was done."""
        self.counts[name] = number

    @contextmanager
    def stage(self, name: str, total: float | None = None, unit: str = "") -> Iterator[Advance]:
        """Measure a stage; the block gets a function to call with the work done since last time."""
        line = _StageLine(name, total, unit) if self.verbose else None
        outer, self._inner = self._inner, 0.0
        start = time.perf_counter()
        try:
            yield line.advance if line else lambda amount: None
        finally:
            elapsed = time.perf_counter() - start
            own = elapsed - self._inner
            self.seconds[name] = self.seconds.get(name, 0.0) + own
            self._inner = outer + elapsed
            if line:
                line.close(own)


class _StageLine:
    """The line of one stage: redrawn on a terminal, repeated at intervals elsewhere."""

    def __init__(self, name: str, total: float | None, unit: str) -> None:
        self.name, self.total, self.unit = name, total, unit
        self.done = 0.0
        self.start = self.shown = time.monotonic()
        self.stream = sys.stderr
        self.redraws = self.stream.isatty()
        if self.redraws:
            self._write(self._text())

    def advance(self, amount: float) -> None:
        self.done += amount
        now = time.monotonic()
        if now - self.shown >= (REDRAW_SECONDS if self.redraws else LINE_SECONDS):
            self.shown = now
            self._write(self._text())

    def close(self, seconds: float) -> None:
        self._write(f"{self.name}: {seconds:.1f} s{self._rate(seconds)}", end="\n")

    def _text(self) -> str:
        elapsed = time.monotonic() - self.start
        text = f"{self.name}:"
        if self.total:
            share = min(1.0, self.done / self.total)
            filled = round(BAR_WIDTH * share)
            bar = "#" * filled + "." * (BAR_WIDTH - filled)
            text += f" [{bar}] {share:4.0%}{self._rate(elapsed)}"
            if share > 0:
                text += f", {elapsed * (1 - share) / share:.0f} s left"
        return text

    def _rate(self, seconds: float) -> str:
        return f", {self.done / seconds:.3g} {self.unit}/s" if self.done and seconds else ""

    def _write(self, text: str, end: str = "") -> None:
        self.stream.write(f"\r\x1b[K{text}{end}" if self.redraws else f"{text}\n")
        self.stream.flush()
