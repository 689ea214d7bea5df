import io
import sys
import time

import pytest

from dssc import _progress
from dssc._progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(progress):
    with progress.stage("search", 4, "tiles") as advance:
        for _ in range(4):
            time.sleep(0.002)
            advance(1)


def test_silent_unless_asked_but_always_measuring(capsys):
    progress = Progress()
    run(progress)
    assert capsys.readouterr() == ("", "")
    assert progress.seconds["search"] >= 0.008


def test_notes_are_shown_if_asked_for(capsys):
    Progress().note("eta1=1")
    Progress(1).note("")
    assert capsys.readouterr() == ("", "")
    Progress(1).note("eta1=1")
    assert capsys.readouterr() == ("", "eta1=1\n")


def test_a_bar_on_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(_progress, "REDRAW_SECONDS", 0.0)
    run(Progress(1))
    drawn = sys.stderr.getvalue().split("\r\x1b[K")
    assert drawn[2].startswith("search: [######..................]  25%, ")
    assert "tiles/s, " in drawn[2]
    assert drawn[2].endswith(" s left")
    assert drawn[-1].startswith("search: 0.0 s, ")
    assert drawn[-1].endswith("tiles/s\n")


def test_plain_lines_elsewhere(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    run(Progress(1))
    (line,) = sys.stderr.getvalue().splitlines()
    assert line.startswith("search: 0.0 s, ")


def test_inner_stages_do_not_count_twice():
    progress = Progress()
    with progress.stage("outer"):
        time.sleep(0.01)
        with progress.stage("inner"):
            time.sleep(0.05)
    assert list(progress.seconds) == ["inner", "outer"]
    assert progress.seconds["outer"] < progress.seconds["inner"]


def test_an_interrupted_stage_ends_its_line(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(KeyboardInterrupt), Progress(1).stage("search", 4):
        raise KeyboardInterrupt
    assert sys.stderr.getvalue().endswith("\n")
