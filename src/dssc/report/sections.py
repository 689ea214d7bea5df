"""The sections of the page, one function each."""

from html import escape

import numpy as np

from dssc.report.colors import hues
from dssc.report.confusion import Confusion
from dssc.report.content import Content
from dssc.report.spectrum_picture import spectrum_picture
from dssc.report.tiles import summary_tiles

# Most classes or clusters for which the confusion matrix is shown.
MAX_CONFUSION_SIDE = 60
# Touching clusters that are listed for each cluster.
TOUCHED_SHOWN = 6
# Headings of the verdicts.
VERDICT_TITLES = {
    "clear": "The clusters are clear",
    "partial": "Some of this is certain",
    "chance": "No clusters beyond chance",
    "single": "One cluster",
}
# Confusions that are listed instead of a larger matrix.
CONFUSIONS_LISTED = 40


def header(content: Content) -> str:
    """Return the heading, which says what was clustered, and the button that switches the theme."""
    steps = f" ({escape(', '.join(content.preparation))})" if content.preparation else ""
    features = "" if content.n_features is None else f", {content.n_features:,} features"
    return (
        '<header><div><p class="kicker">Clustering report</p>'
        f"<h1>{escape(content.title)}</h1>"
        f"<p>{content.n_samples:,} samples{features}{steps}, in "
        f"{content.n_clusters} clusters by {escape(content.method)}</p></div>"
        '<button id="theme" type="button" aria-label="Switch between light and dark">'
        "<span aria-hidden=true>◐</span> Theme</button></header>\n<main>\n"
    )


def verdict(content: Content) -> str:
    """Return what the clustering is worth and what to do next; nothing if it was not judged."""
    judged = content.verdict
    if judged is None:
        return ""
    steps = judged.next_steps or ["Nothing: use the labels."]
    return (
        f'<section class="verdict {judged.kind}" aria-label="Verdict"><p class="kicker">Verdict</p>'
        f"<h2>{VERDICT_TITLES[judged.kind]}</h2><p>{escape(_sentence(judged.headline))}</p>"
        f"<h3>What to do next</h3>{_list(steps)}"
        f"<details><summary>How sure is this?</summary>{_list(judged.reasons)}</details>"
        "</section>\n"
    )


def summary(content: Content) -> str:
    """Return the warnings, what was chosen, and the tiles."""
    notes = "".join(f'<p class="note" role="note">{escape(note)}</p>' for note in content.notes)
    if content.explanation:
        notes += f"<p>Chosen without labels: {escape(content.explanation)}.</p>"
    body = f'{notes}<div class="tiles">{"".join(summary_tiles(content))}</div>'
    return f'<section aria-label="Summary">{body}</section>\n'


def clusters(content: Content) -> str:
    """Return the table of cluster sizes."""
    largest = content.sizes.max()
    known = content.confusion
    rows = "".join(
        f"<tr><th scope=row>{_dot(content, cluster)}{cluster}</th>"
        f'<td class="num">{size:,}</td>'
        f'<td class="bar"><span style="{_colour(content, cluster)};'
        f'width:{100 * size / largest:.1f}%"></span></td>'
        f'<td class="num">{inside:.1%}</td>{_judged_cells(content, cluster)}'
        f"{_majority(known, cluster) if known else ''}</tr>"
        for cluster, (size, inside) in enumerate(zip(content.sizes, content.inside, strict=True))
    )
    heading = "<th scope=col>found again</th><th scope=col>touches</th>" if content.verdict else ""
    heading += "<th scope=col>most common class</th>" if known else ""
    table = (
        '<div class="scroll"><table class="sizes"><thead><tr><th scope=col>cluster</th>'
        "<th scope=col>size</th><th scope=col class=wide><span class=sr>size as a bar</span></th>"
        f"<th scope=col>affinity inside</th>{heading}</tr></thead><tbody>{rows}</tbody>"
        "</table></div>"
    )
    text = "A cluster whose affinity lies mostly inside is well separated from the others."
    if content.verdict:
        text += (
            " <i>Found again</i> is its overlap with clusters of random halves of the points, 1 at "
            "best. It <i>touches</i> clusters that share 5% of the affinity of the smaller one."
        )
    return _section("Clusters", text, table)


def embedding(content: Content) -> str:
    """Return the frame of the scatter plot."""
    n, shown = content.n_samples, len(content.points)
    sampled = f" {shown:,} of {n:,} points are drawn, chosen at random." if shown < n else ""
    text = (
        f"Rows of the spectral embedding, laid out by {content.layout}. Groups that touch or mix "
        "are doubtful clusters; equal rows are drawn next to each other; distances between groups "
        f"mean little.{sampled} Hover over a point, or step through the points with the arrow "
        "keys; select a cluster to highlight it."
    )
    chips = "".join(
        f'<button type="button" class="chip" data-cluster="{cluster}" aria-pressed="false">'
        f"{_dot(content, cluster)}{cluster}</button>"
        for cluster in range(content.n_clusters)
    )
    canvas = (
        f'<div class="chips" role="group" aria-label="Highlight a cluster">{chips}</div>'
        '<canvas id="embedding" tabindex="0" role="img" aria-label="Scatter plot of '
        f"{shown:,} points in {content.n_clusters} groups coloured by cluster. "
        'Arrow keys move from point to point."></canvas>'
    )
    return _section("Embedding", text, canvas)


def affinity(content: Content) -> str:
    """Return the frame of the picture of the affinity."""
    side, n = len(content.picture.levels), content.n_samples
    pooled = (
        f" Each pixel is the sum over about {n / side:.0f} x {n / side:.0f} pairs of the {n:,} "
        "points."
        if side < n
        else ""
    )
    text = (
        "The affinity between points, sorted by cluster. Blocks on the diagonal are connections "
        f"inside clusters; everything else connects different clusters.{pooled}"
    )
    canvas = (
        '<canvas id="affinity" class="square" role="img" aria-label="Affinity matrix sorted by '
        f'cluster; {content.share.mean():.1%} of its mass lies in the diagonal blocks."></canvas>'
    )
    return _section("Affinity", text, canvas)


def spectrum(content: Content) -> str:
    """Return the picture of the leading eigenvalues."""
    values, k = content.eigenvalues, content.n_clusters
    text = (
        f"Leading eigenvalues of the affinity. A wide gap after the first {k} indicates that {k} "
        "is a natural number of clusters; each value of 1 belongs to a connected component."
    )
    listed = ", ".join(f"{value:.4f}" for value in values)
    picture = (
        f"{spectrum_picture(values, k)}<details><summary>The numbers</summary>"
        f"<p>{listed}</p></details>"
    )
    return _section("Spectrum", text, picture)


def members(content: Content) -> str:
    """Return the most central and the most doubtful members of each cluster."""
    rows = []
    kind = "tags" if content.sheet is None else "thumbs"
    for cluster in range(content.n_clusters):
        shown = "".join(
            f'<div class="group"><h4>{name}</h4><div class="{kind}">'
            + "".join(_member(content, int(point)) for point in points)
            + "</div></div>"
            for name, points in (
                ("central", content.central[cluster]),
                ("doubtful", content.doubtful[cluster]),
            )
            if len(points)
        )
        rows.append(
            f'<div class="members"><h3>{_dot(content, cluster)}Cluster {cluster}</h3>{shown}</div>'
        )
    text = (
        "Central members are closest to the mean direction of their cluster in the embedding. "
        "Doubtful ones have the smallest lead over the next cluster: check these by eye."
    )
    return _section("Members", text, "".join(rows))


def confusion(content: Content) -> str:
    """Return the confusion matrix, or its largest entries; nothing if no classes are known."""
    known = content.confusion
    if known is None:
        return ""
    if max(known.counts.shape) > MAX_CONFUSION_SIDE:
        return _section(
            "Confusion",
            f"The {CONFUSIONS_LISTED} largest confusions of {known.counts.shape[0]} classes "
            f"and {known.counts.shape[1]} clusters; the matrix would be too large to read.",
            _largest_confusions(known),
        )
    heads = "".join(f"<th scope=col>{cluster}</th>" for cluster in known.clusters)
    body = []
    for name, counts in zip(known.classes, known.counts, strict=True):
        shares = counts / max(1, counts.sum())
        cells = "".join(
            f'<td style="--share:{share:.2f}"{" class=strong" if share > 0.5 else ""}>'
            f"{count or ''}</td>"
            for count, share in zip(counts, shares, strict=True)
        )
        body.append(f"<tr><th scope=row>{escape(name)}</th>{cells}</tr>")
    table = (
        '<div class="scroll"><table class="confusion"><thead><tr><th scope=col>class \\ cluster'
        f"</th>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )
    text = "Known classes in rows, clusters in columns, matched along the diagonal."
    return _section("Confusion", text, table)


def details(content: Content) -> str:
    """Return parameters, certificate and timings, and close the main part."""
    used = {"eta1": content.eta1, "eta2": content.eta2}
    certificate = content.certificate
    rows = [
        *((name, repr(value)) for name, value in content.parameters.items()),
        *((f"{name}, as used", f"{x:.6g}") for name, x in used.items() if x is not None),
        *([("certificate", certificate.status)] if certificate is not None else []),
        *((f"seconds: {stage}", f"{value:.2f}") for stage, value in content.seconds.items()),
    ]
    cells = "".join(
        f"<tr><th scope=row>{escape(name)}</th><td>{escape(value)}</td></tr>"
        for name, value in rows
    )
    table = f'<div class="scroll"><table class="plain"><tbody>{cells}</tbody></table></div>'
    text = "These parameters and the same data reproduce the result."
    return _section("Parameters and certificate", text, table) + "</main>\n"


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}"


def _list(texts: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(_sentence(text))}</li>' for text in texts)}</ul>"


def _section(title: str, text: str, body: str) -> str:
    return f"<section><h2>{title}</h2><p>{text}</p>{body}</section>\n"


def _judged_cells(content: Content, cluster: int) -> str:
    """Return the cells that say whether a cluster is found again, and which ones it touches."""
    if content.verdict is None:
        return ""
    evidence = content.verdict.evidence
    found = evidence.stability.clusters[cluster]
    score = "" if np.isnan(found) else f"{found:.2f}"
    touched = np.flatnonzero(evidence.touching[cluster])
    names = ", ".join(map(str, touched[:TOUCHED_SHOWN]))
    more = f" and {len(touched) - TOUCHED_SHOWN} more" if len(touched) > TOUCHED_SHOWN else ""
    return f'<td class="num">{score}</td><td>{names}{more}</td>'


def _majority(known: Confusion, cluster: int) -> str:
    """Return the cell with the most common class of a cluster."""
    counts = known.counts[:, known.clusters.index(cluster)]
    if not counts.any():
        return "<td></td>"
    best = int(np.argmax(counts))
    return f"<td>{escape(known.classes[best])} ({counts[best] / counts.sum():.0%})</td>"


def _largest_confusions(known: Confusion) -> str:
    confusions = [
        (int(known.counts[row, column]), row, column)
        for row, column in np.argwhere(known.counts)
        if row != column
    ]
    rows = "".join(
        f'<tr><th scope=row>{escape(known.classes[row])}</th><td class="num">{count:,}</td>'
        f'<td class="num">{known.clusters[column]}</td></tr>'
        for count, row, column in sorted(confusions, reverse=True)[:CONFUSIONS_LISTED]
    )
    return (
        '<div class="scroll"><table class="plain"><thead><tr><th scope=col>class</th>'
        "<th scope=col>points</th><th scope=col>in cluster</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></div>"
    )


def _member(content: Content, point: int) -> str:
    name = content.names[point] if content.names is not None else f"sample {point}"
    if content.classes is not None:
        name = f"{name}, class {content.classes[point]}"
    name = escape(name, quote=True)
    if content.sheet is None:
        return f'<span class="tag">{name}</span>'
    sheet = content.sheet
    row, column = divmod(sheet.places[point], sheet.columns)
    style = (
        f"--col:{column};--row:{row};--cols:{sheet.columns};--rows:{sheet.rows};"
        f"aspect-ratio:{sheet.width}/{sheet.height}"
    )
    return (
        f'<span class="thumb" role="img" aria-label="{name}" title="{name}" style="{style}"></span>'
    )


def _colour(content: Content, cluster: int) -> str:
    return f"--h:{hues(content.n_clusters)[cluster]}"


def _dot(content: Content, cluster: int) -> str:
    return f'<i class="dot" aria-hidden=true style="{_colour(content, cluster)}"></i>'
