"""Clusters compared with known classes."""

from html import escape

import numpy as np

from dssc.confusion import Confusion
from dssc.report.content import Content
from dssc.report.markup import section, table

# Most classes or clusters for which the confusion matrix is shown.
MAX_SIDE = 40
# Confusions that are listed instead of a larger matrix.
CONFUSIONS_LISTED = 40


def known_classes(content: Content) -> str:
    """Return the scores and the confusion matrix; nothing if no classes are known."""
    known, scores = content.confusion, content.scores
    if known is None or scores is None:
        return ""
    n_confused = int(known.counts.sum()) - known.n_matched
    text = (
        f"ACC {scores['ACC']:.3f}: {known.n_matched:,} points are in the cluster that is matched "
        f"with their class, {n_confused:,} are not. NMI {scores['NMI']:.3f}: mutual information, 1 "
        f"at best. SPE {scores['SPE']:.3f}: share of affinity between classes, 0 at best."
    )
    is_small = max(known.counts.shape) <= MAX_SIDE
    body = _matrix(known) if is_small else _largest(known)
    return section(
        "classes", "Known classes", text, f'{body}<div id="confused" aria-live="polite"></div>'
    )


def _matrix(known: Confusion) -> str:
    heads = [
        "<th scope=col>class \\ cluster</th>",
        *(f"<th scope=col>{cluster}</th>" for cluster in known.clusters),
    ]
    rows = [
        f"<tr><th scope=row>{escape(known.classes[place])}</th>{_cells(known, place)}</tr>"
        for place in range(len(known.classes))
    ]
    return (
        "<p>Classes in rows, clusters in columns, matched along the diagonal. Select a number to "
        f"see these points.</p>{table('confusion', heads, rows)}"
    )


def _cells(known: Confusion, place: int) -> str:
    counts = known.counts[place]
    shares = counts / max(1, counts.sum())
    cells = []
    for column, (count, share) in enumerate(zip(counts.tolist(), shares, strict=True)):
        kind = "" if place == column else ' class="off"'
        button = _button(known, place, column, f"{count:,}") if count else ""
        cells.append(f'<td{kind} style="--share:{share:.2f}">{button}</td>')
    return "".join(cells)


def _largest(known: Confusion) -> str:
    """Return the largest confusions, for more classes than a matrix can show."""
    places = np.argwhere(known.counts).tolist()
    confusions = [(int(known.counts[i, j]), i, j) for i, j in places if i != j]
    if not confusions:
        return "<p>Every point is in the cluster that is matched with its class.</p>"
    rows = [
        f"<tr><th scope=row>{escape(known.classes[i])}</th><td>{known.clusters[j]}</td>"
        f"<td>{_matched_class(known, j)}</td>"
        f'<td class="num">{_button(known, i, j, f"{count:,}")}</td></tr>'
        for count, i, j in sorted(confusions, reverse=True)[:CONFUSIONS_LISTED]
    ]
    heads = [
        f"<th scope=col>{name}</th>"
        for name in ("class", "in cluster", "which is matched with", "points")
    ]
    return (
        f"<p>The largest confusions of {known.counts.shape[0]} classes and "
        f"{known.counts.shape[1]} clusters. Select a number to see these points.</p>"
        f"{table('plain', heads, rows)}"
    )


def _matched_class(known: Confusion, column: int) -> str:
    return escape(known.classes[column]) if column < len(known.classes) else "no class"


def _button(known: Confusion, place: int, column: int, text: str) -> str:
    return (
        f'<button type="button" class="cell" data-class="{known.class_order[place]}" '
        f'data-in="{known.clusters[column]}">{text}</button>'
    )
