"""Pieces of HTML that several sections share."""

from collections.abc import Iterable
from html import escape

from dssc.report.colors import hues


def section(name: str, title: str, text: str, body: str) -> str:
    """Return a section with a heading, a sentence that explains it, and its body."""
    words = f"<p>{text}</p>" if text else ""
    return f'<section id="{name}" aria-label="{title}"><h2>{title}</h2>{words}{body}</section>\n'


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop."""
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def bullets(texts: Iterable[str]) -> str:
    """Return sentences as a list."""
    return f"<ul>{''.join(f'<li>{escape(sentence(text))}</li>' for text in texts)}</ul>"


def colour(cluster: int, n_clusters: int) -> str:
    """Return the style that gives an element the colour of a cluster."""
    return f"--h:{hues(n_clusters)[cluster]}"


def dot(cluster: int, n_clusters: int) -> str:
    """Return a dot in the colour of a cluster."""
    return f'<i class="dot" aria-hidden=true style="{colour(cluster, n_clusters)}"></i>'


def table(kind: str, heads: Iterable[str], rows: Iterable[str]) -> str:
    """Return a table that scrolls where it is wider than the page."""
    head = "".join(heads)
    top = f"<thead><tr>{head}</tr></thead>" if head else ""
    return (
        f'<div class="scroll" tabindex="0"><table class="{kind}">{top}'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def row(name: str, *cells: str) -> str:
    """Return a row of a table whose cells are plain text."""
    return (
        f"<tr><th scope=row>{escape(name)}</th>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
    )


def count_of(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
