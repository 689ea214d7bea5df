"""The page: its head, its sections in order, and the data for its script."""

import json
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

from numpy.typing import ArrayLike

import dssc
from dssc._typing import Array
from dssc.exploring import Exploration
from dssc.report import cluster_sections, computation_sections, picture_sections, verdict_section
from dssc.report.class_section import known_classes
from dssc.report.content import Content, gather
from dssc.report.packing import packed
from dssc.report.page_data import page_data, sheet_data, wanted_images
from dssc.report.thumbnails import ThumbnailSheet, make_sheet
from dssc.separation import Separation
from dssc.verdict import Verdict

# Most characters of a page with thumbnails, which take what the rest leaves.
MAX_CHARS = 1_000_000
# Characters kept back for where thumbnails are on their sheet.
PLACES_CHARS = 40_000
# Thumbnails with sides up to this are shown with visible pixels.
TINY = 16
# Content policy of the page: it may not load anything.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
# Parts of the style and of the script, in order.
STYLES = ("report.css", "print.css")
SCRIPTS = ("data.js", "members.js", "pictures.js", "tables.js", "page.js")


def html_report(
    model: Any,
    *,
    title: str = "Clustering",
    images: Array | None = None,
    X: Any = None,
    feature_names: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    labels_true: ArrayLike | None = None,
    preparation: Sequence[str] = (),
    notes: Sequence[str] = (),
    random_state: int = 0,
    verdict: Verdict | None = None,
    separation: Separation | None = None,
    exploration: Exploration | None = None,
    command: str | None = None,
) -> str:
    """Return a report on a clustering as one self-contained HTML page.

    The page begins with what the clustering is worth and what to do next. It then shows every
    cluster with its members, a comparison with known classes, pictures of the embedding and the
    affinity, the number of clusters, what was tried, the certificate of the optimisation, and how
    to make the result again. Labels can be downloaded from it. It needs no network, and has at most
    a megabyte up to about 100,000 samples.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.
    title : str, default="Clustering"
        Heading of the page.
    images : ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3), optional
        The samples as images; the page shows as many thumbnails of them as it has space for.
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features), optional
        Values of the samples in their own units, from which the features that set each cluster
        apart are found.
    feature_names : sequence of str, optional
        Names of the columns of X; those of a data frame when not given.
    names : sequence of str, optional
        Names of the samples; their indices when not given.
    labels_true : array-like of shape (n_samples,), optional
        Known classes.
    preparation : sequence of str
        Steps by which the features were computed.
    notes : sequence of str
        Warnings to show.
    random_state : int, default=0
        Seed of the sample that is drawn, and of its layout.
    verdict : Verdict, optional
        What the clustering is worth, as ``ADSSC.summary()`` returns it.
    separation : Separation, optional
        Proofs of separation, as ``ADSSC.separation()`` returns them; those of the verdict when not
        given.
    exploration : Exploration, optional
        Other numbers of clusters, as ``explore()`` returns them.
    command : str, optional
        The command that makes the page again.

    Returns
    -------
    page : str
        HTML.

    Examples
    --------
    >>> from dssc import ADSSC, make_union_of_subspaces
    >>> from dssc.report import html_report
    >>> X, y = make_union_of_subspaces(40, random_state=0)
    >>> model = ADSSC(3, random_state=0).fit(X)
    >>> page = html_report(model, labels_true=y, verdict=model.summary())
    >>> page.startswith("<!doctype html>")
    True
    """
    content = gather(
        model,
        title,
        images,
        X,
        feature_names,
        names,
        labels_true,
        preparation,
        notes,
        random_state,
        verdict,
        separation,
        exploration,
        command,
    )
    body = _body(content)
    data = packed(page_data(content))
    page = _page(title, body, data, None)
    if images is None:
        return page
    wanted, n_needed = wanted_images(content, random_state)
    space = MAX_CHARS - len(page) - PLACES_CHARS
    return _page(title, body, data, make_sheet(images, wanted, n_needed, space))


def _body(content: Content) -> str:
    sections = [
        verdict_section.verdict(content),
        verdict_section.facts(content),
        cluster_sections.cluster_table(content),
        cluster_sections.cards(content),
        known_classes(content),
        picture_sections.embedding(content),
        picture_sections.affinity(content),
        picture_sections.number_of_clusters(content),
        computation_sections.tried(content),
        computation_sections.certificate(content),
        computation_sections.again(content),
    ]
    main = "".join(sections)
    return (
        f'{verdict_section.header(content)}<div class="layout">{_contents(main)}'
        f"<main>\n{main}</main></div>\n"
    )


def _contents(main: str) -> str:
    """Return a list of links to the sections."""
    found = re.findall(r'<section id="([\w-]+)"[^>]*aria-label="([^"]+)"', main)
    links = "".join(f'<a href="#{name}">{title}</a>' for name, title in found)
    return f'<nav aria-label="Contents">{links}</nav>'


def _page(title: str, body: str, data: str, sheet: ThumbnailSheet | None) -> str:
    style = "".join(map(_asset, STYLES)) + ("" if sheet is None else _sheet_style(sheet))
    script = "".join(map(_asset, SCRIPTS))
    places = "null" if sheet is None else json.dumps(packed(sheet_data(sheet)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)} · dssc report</title>\n<style>\n{style}</style>\n</head>\n"
        f"<body>\n{body}"
        f"<footer>Made by dssc {dssc.__version__}. "
        "This file is self-contained: it loads nothing.</footer>\n"
        '<div id="tip" role="status" hidden></div>\n'
        '<dialog id="viewer" tabindex="-1" aria-label="Image"></dialog>\n'
        f'<script type="application/json" id="data">"{data}"</script>\n'
        f'<script type="application/json" id="sheet">{places}</script>\n'
        f'<script>\n"use strict";\n(async () => {{\n{script}}})();\n</script>\n</body>\n</html>\n'
    )


def _asset(name: str) -> str:
    return files("dssc.report").joinpath("assets", name).read_text(encoding="utf-8")


def _sheet_style(sheet: ThumbnailSheet) -> str:
    # Smoothing would blur tiny images.
    rendering = "pixelated" if max(sheet.width, sheet.height) <= TINY else "auto"
    return f".thumb {{ background-image: url({sheet.address}); image-rendering: {rendering}; }}\n"
