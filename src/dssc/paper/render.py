"""A table as Markdown, CSV and HTML."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

STYLE = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8883; }
th { position: sticky; top: 0; background: Canvas; }
td:nth-child(-n + 3), th:nth-child(-n + 3) { text-align: left; }
tr.first td { border-top: 2px solid #888; }
:root { color-scheme: light dark; }
"""


@dataclass(frozen=True)
class Cell:
    """A text, perhaps bold."""

    text: str = ""
    bold: bool = False


@dataclass
class Table:
    """A titled table; a row whose first cell differs from the one above starts a group.

    Pictures are pairs of a text and the name of a file beside the page.
    """

    title: str
    header: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    notes: Sequence[str] = ()
    pictures: Sequence[tuple[str, str]] = ()

    def markdown(self) -> str:
        """Return a page with a pipe table."""
        lines = [f"# {self.title}", ""]
        for note in self.notes:
            lines += [note, ""]
        lines += [f"![{text}]({file})" for text, file in self.pictures] + [""] * bool(self.pictures)
        lines += [_piped(self.header), "|" + "---|" * len(self.header)]
        lines += [_piped(f"**{c.text}**" if c.bold else c.text for c in row) for row in self.rows]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return comma-separated values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([cell.text for cell in row] for row in self.rows)
        return text.getvalue()

    def html(self) -> str:
        """Return a page of its own that loads nothing."""
        parts = ["<!doctype html>", '<html lang="en">', '<meta charset="utf-8">']
        parts += [f"<title>{escape(self.title)}</title>", f"<style>\n{STYLE}</style>"]
        parts += [f"<h1>{escape(self.title)}</h1>"]
        parts += [f"<p>{escape(note)}</p>" for note in self.notes]
        parts += [f'<img src="{escape(f)}" alt="{escape(text)}">' for text, f in self.pictures]
        parts += ["<table>", "<thead>", _html_row(self.header, "th"), "</thead>", "<tbody>"]
        last = None
        for row in self.rows:
            texts = [f"<b>{escape(c.text)}</b>" if c.bold else escape(c.text) for c in row]
            parts.append(_html_row(texts, "td", row[0].text != last, escaped=True))
            last = row[0].text
        return "\n".join([*parts, "</tbody>", "</table>", "</html>"]) + "\n"


def _piped(texts):
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _html_row(texts, tag, first=False, escaped=False):
    cells = "".join(f"<{tag}>{text if escaped else escape(text)}</{tag}>" for text in texts)
    return f"<tr{' class=first' if first else ''}>{cells}</tr>"
