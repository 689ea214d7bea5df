"""The top of the page: what was clustered, what the clusters are worth, and a few numbers."""

from html import escape

import numpy as np

from dssc.report.content import Content
from dssc.report.markup import bullets, count_of, sentence
from dssc.report.stability_picture import stability_picture
from dssc.verdict import FOUND_AGAIN

# Headings of the verdicts.
TITLES = {
    "clear": "The clusters are clear",
    "partial": "Some of this is certain",
    "chance": "No clusters beyond chance",
    "single": "One cluster",
}
# Share of points outside of the largest components, as many as clusters, that is no alarm.
MOST_STRAY = 0.01


def header(content: Content) -> str:
    """Return the heading, which says what was clustered, and the buttons."""
    n, steps = len(content.samples.labels), ", ".join(content.preparation)
    features = "" if content.n_features is None else f", {count_of(content.n_features, 'feature')}"
    prepared = f" ({escape(steps)})" if steps else ""
    return (
        '<header><div><p class="kicker">Clustering report</p>'
        f"<h1>{escape(content.title)}</h1>"
        f"<p>{n:,} samples{features}{prepared}, in {count_of(content.n_clusters, 'cluster')} by "
        f"{escape(content.method)}</p></div><div class=buttons>"
        '<button id="download" type="button" class="strong">Download labels (CSV)</button>'
        '<button id="theme" type="button" aria-label="Switch between light and dark">'
        "<span aria-hidden=true>◐</span> Theme</button></div></header>\n"
    )


def verdict(content: Content) -> str:
    """Return what the clustering is worth and what to do next."""
    judged = content.verdict
    if judged is None:
        return _not_judged(content)
    steps = judged.next_steps or ["Nothing: use the labels."]
    return (
        f'<section id="verdict" class="verdict {judged.kind}" aria-label="Verdict">'
        f'<p class="kicker">Verdict</p><h2>{TITLES[judged.kind]}</h2>'
        f'<p class="lead">{escape(sentence(judged.headline))}</p>'
        f"<h3>What to do next</h3>{bullets(steps)}"
        f"<details><summary>How sure is this?</summary>{bullets(judged.reasons)}</details>"
        f"{_stability(content)}</section>\n"
    )


def _not_judged(content: Content) -> str:
    how = (
        "Give <code>verdict=model.summary()</code> to <code>html_report</code>, or leave out "
        "<code>--no-verdict</code>, to know whether the clusters are found again in halves of the "
        "points."
        if hasattr(content.model, "summary")
        else f"{escape(content.method)} cannot be judged; the numbers below do not say whether the "
        "clusters are real. <code>ADSSC</code> can."
    )
    return (
        '<section id="verdict" class="verdict" aria-label="Verdict"><p class="kicker">Verdict</p>'
        f'<h2>Not judged</h2><p class="lead">{how}</p></section>\n'
    )


def _stability(content: Content) -> str:
    assert content.verdict is not None
    stability = content.verdict.evidence.stability
    if content.verdict.kind == "single":
        return ""
    return (
        "<h3>Is each cluster found again?</h3>"
        '<p class="small">Each dot is a cluster, at its overlap with the most similar cluster of '
        f"random halves of the points. From {FOUND_AGAIN} on it counts as found again, and is "
        "filled. Points without clusters reach the dashed line.</p>"
        f"{stability_picture(stability)}"
    )


def facts(content: Content) -> str:
    """Return the notes, and the tiles with the few numbers that describe the clustering."""
    notes = "".join(
        f'<p class="note" role="note">{escape(sentence(note))}</p>' for note in content.notes
    )
    tiles = "".join(
        tile
        for tile in (
            _stability_tile(content),
            _tile(
                "Confidence",
                f"{content.samples.confidence[content.samples.kept].mean():.0%}",
                "of a point's affinity is inside its cluster, on average",
            ),
            _proof_tile(content),
            _class_tile(content),
            _components_tile(content),
        )
    )
    return (
        f'<section class="bare" aria-label="Numbers">{notes}<div class="tiles">{tiles}</div>'
        "</section>\n"
    )


def _tile(name: str, value: str, text: str, kind: str = "") -> str:
    return (
        f'<div class="tile {kind}"><span class="name">{name}</span>'
        f'<span class="value">{value}</span><span class="text">{text}</span></div>'
    )


def _stability_tile(content: Content) -> str:
    if content.verdict is None or content.verdict.kind == "single":
        return ""
    stability = content.verdict.evidence.stability
    return _tile(
        "Stability",
        f"{stability.mean:.2f}",
        f"mean overlap with clusters of halves; {stability.chance:.2f} without clusters",
    )


def _proof_tile(content: Content) -> str:
    separation = content.clusters.separation
    if separation is None or content.n_clusters == 1:
        return ""
    return _tile(
        "Proved separate",
        f"{separation.n_proved:,} of {separation.n_pairs:,}",
        "pairs of clusters are not connected in the exact affinity",
    )


def _class_tile(content: Content) -> str:
    if content.scores is None:
        return ""
    scores = content.scores
    return _tile(
        "Known classes",
        f"ACC {scores['ACC']:.3f}",
        f"share of points in the cluster matched with their class; NMI {scores['NMI']:.3f}",
    )


def _components_tile(content: Content) -> str:
    sizes, k = content.component_sizes, content.n_clusters
    n_stray = int(np.sum(sizes[k:]))
    if n_stray == 0 or k == 1:
        text, kind = f"connected, for {count_of(k, 'cluster')}", ""
    elif n_stray <= MOST_STRAY * len(content.samples.kept):
        text, kind = (
            f"{count_of(n_stray, 'stray point')} beside the {k} largest: perhaps outliers",
            "",
        )
    else:
        text, kind = f"more than the {k} clusters: raise eta2 or n_neighbors", "bad"
    return _tile("Components", f"{len(sizes):,}", text, kind)
