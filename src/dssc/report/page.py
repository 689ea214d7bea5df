"""The page: its head, its sections in order, and the data for its script."""

import base64
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import dssc
from dssc._typing import Array
from dssc.report import sections
from dssc.report.colors import hues
from dssc.report.content import Content, gather
from dssc.report.thumbnails import ThumbnailSheet
from dssc.verdict import Verdict

# Thumbnails with sides up to this are shown with visible pixels.
TINY = 16
# Positions of points are integers up to this.
GRID = 1000
# Content policy of the page: it may not load anything.
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def html_report(
    model: Any,
    *,
    title: str = "Clustering",
    images: Array | None = None,
    names: Sequence[str] | None = None,
    labels_true: ArrayLike | None = None,
    preparation: Sequence[str] = (),
    notes: Sequence[str] = (),
    random_state: int = 0,
    verdict: Verdict | None = None,
) -> str:
    """Return a report on a clustering as one self-contained HTML page.

    The page shows what the clustering is worth, if that is given, the cluster sizes, a plot of the
    embedding, the affinity sorted by cluster, the spectrum with its gap, the most central and the
    most doubtful members of each cluster, the certificate and, if classes are known, a confusion
    matrix. Of large data it shows a sample, and says so.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.
    title : str, default="Clustering"
        Heading of the page.
    images : ndarray of shape (n_samples, height, width) or (n_samples, height, width, 3), optional
        The samples as images; the page shows thumbnails of them.
    names : sequence of str, optional
        Names of the samples; their indices when not given.
    labels_true : array-like of shape (n_samples,), optional
        Known classes.
    preparation : sequence of str
        Steps by which the features were computed.
    notes : sequence of str
        Warnings to show.
    random_state : int, default=0
        Seed of the sample and of its layout.
    verdict : Verdict, optional
        What the clustering is worth, as ``ADSSC.summary()`` returns it. The page begins with it.

    Returns
    -------
    page : str
        HTML.

    Examples
    --------
    >>> from dssc import ADSSC, make_union_of_subspaces
    >>> from dssc.report import html_report
    >>> X, y = make_union_of_subspaces(40, random_state=0)
    >>> page = html_report(ADSSC(3, random_state=0).fit(X), labels_true=y)
    >>> page.startswith("<!doctype html>")
    True
    """
    content = gather(
        model, title, images, names, labels_true, preparation, notes, random_state, verdict
    )
    body = "".join(
        section
        for section in (
            sections.header(content),
            sections.verdict(content),
            sections.summary(content),
            sections.clusters(content),
            sections.embedding(content),
            sections.affinity(content),
            sections.spectrum(content),
            sections.members(content),
            sections.confusion(content),
            sections.details(content),
        )
        if section
    )
    style = _asset("report.css") + (_sheet_style(content.sheet) if content.sheet else "")
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
        f'<script type="application/json" id="data">{_as_script(_data(content))}</script>\n'
        f"<script>\n{_asset('report.js')}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("dssc.report").joinpath("assets", name).read_text(encoding="utf-8")


def _as_script(data: dict[str, Any]) -> str:
    """Return JSON that cannot end the script element that contains it."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _sheet_style(sheet: ThumbnailSheet) -> str:
    # Smoothing would blur tiny images.
    rendering = "pixelated" if max(sheet.width, sheet.height) <= TINY else "auto"
    return f".thumb {{ background-image: url({sheet.address}); image-rendering: {rendering}; }}\n"


def _data(content: Content) -> dict[str, Any]:
    """Return the data from which the script draws."""
    picture, points = content.picture, content.points
    side = len(picture.levels)
    data = {
        "hues": hues(content.n_clusters),
        "affinity": {
            "side": side,
            "levels": base64.b64encode(picture.levels.tobytes()).decode(),
            "bounds": picture.bounds,
            # With one pixel per point, the tooltip can name the points.
            "order": picture.order.tolist() if side == content.n_samples else None,
        },
        "points": {
            "index": points.tolist(),
            "cluster": content.labels[points].tolist(),
            "x": np.rint(GRID * content.positions[:, 0]).astype(int).tolist(),
            "y": np.rint(GRID * content.positions[:, 1]).astype(int).tolist(),
            "inside": np.rint(100 * content.share[points]).astype(int).tolist(),
        },
        "grid": GRID,
        "names": None if content.names is None else [content.names[i] for i in points],
        "classes": None if content.classes is None else content.classes[points].tolist(),
    }
    if content.sheet is not None:
        sheet = content.sheet
        data["sheet"] = {
            "places": [sheet.places[i] for i in points.tolist()],
            "columns": sheet.columns,
            "rows": sheet.rows,
            "width": sheet.width,
            "height": sheet.height,
        }
    return data
