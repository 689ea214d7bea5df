"""The page of results shows the generated table, and has a sentence for every large difference."""

import re
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table_below(text, start):
    """Return the rows of the first table after a text."""
    lines = text[text.index(start) :].splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        rows.append(cells(line))
    return rows[0], rows[2:]


def test_the_page_shows_the_generated_table():
    page = (RESULTS / "index.md").read_text(encoding="utf-8")
    overview = (RESULTS / "overview.md").read_text(encoding="utf-8")
    assert overview.split("\n", 2)[2].strip() in page


def test_every_large_difference_has_a_sentence():
    header, rows = table_below((RESULTS / "overview.md").read_text(encoding="utf-8"), "# ")
    bold = {
        (data, row[0]): tuple(cell.strip("*").split(" / "))
        for row in rows
        for data, cell in zip(header[1:], row[1:], strict=True)
        if cell.startswith("**")
    }
    assert bold
    _, rows = table_below((RESULTS / "index.md").read_text(encoding="utf-8"), "## Differences")
    explained = {}
    for data, methods, ours, paper, why in rows:
        assert re.fullmatch(r"\w.*\.", why), why
        for method, *numbers in zip(
            *(re.split(", ", c) for c in (methods, ours, paper)), strict=True
        ):
            explained[data, method] = tuple(numbers)
    assert explained == bold
