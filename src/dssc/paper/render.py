"""A table as Markdown, CSV and HTML."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

# Style sheet of the HTML page.
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
    """The text of a cell, and whether it is bold."""

    text: str = ""
    bold: bool = False


@dataclass
class Table:
    """A titled table; a row whose first cell differs from the one above starts a group.

    Pictures are pairs of an alternative text and a file name relative to the page.
    """

    title: str
    header: Sequence[str]
    rows: list[list[Cell]] = field(default_factory=list)
    notes: Sequence[str] = ()
    pictures: Sequence[tuple[str, str]] = ()

    def markdown(self) -> str:
        """Return a page with a pipe table."""
        lines = [
            f"# {self.title}",
            "",
            *(line for note in self.notes for line in (note, "")),
            *(f"![{text}]({file})" for text, file in self.pictures),
            *([""] if self.pictures else []),
            _piped(self.header),
            "|" + "---|" * len(self.header),
            *(_piped(f"**{c.text}**" if c.bold else c.text for c in row) for row in self.rows),
        ]
        return "\n".join(lines) + "\n"

    def csv(self) -> str:
        """Return comma-separated values."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([cell.text for cell in row] for row in self.rows)
        return text.getvalue()

    def html(self) -> str:
        """Return a complete page that loads nothing but the pictures."""
        parts = [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            f"<title>{escape(self.title)}</title>",
            f"<style>\n{STYLE}</style>",
            f"<h1>{escape(self.title)}</h1>",
            *(f"<p>{escape(note)}</p>" for note in self.notes),
            *(f'<img src="{escape(f)}" alt="{escape(text)}">' for text, f in self.pictures),
            "<table>",
            "<thead>",
            _html_row(map(escape, self.header), "th"),
            "</thead>",
            "<tbody>",
        ]
        previous = None
        for row in self.rows:
            texts = [f"<b>{escape(c.text)}</b>" if c.bold else escape(c.text) for c in row]
            parts.append(_html_row(texts, "td", starts_group=row[0].text != previous))
            previous = row[0].text
        return "\n".join([*parts, "</tbody>", "</table>", "</html>"]) + "\n"


def _piped(texts: Iterable[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def _html_row(contents: Iterable[str], tag: str, starts_group: bool = False) -> str:
    cells = "".join(f"<{tag}>{content}</{tag}>" for content in contents)
    return f"<tr{' class=first' if starts_group else ''}>{cells}</tr>"
