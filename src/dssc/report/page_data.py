"""The data from which the page's script draws, lists members and writes the table of labels."""

import base64
from typing import Any

import numpy as np

from dssc._typing import Array
from dssc.report.colors import hues
from dssc.report.content import MEMBERS_SHOWN, Content
from dssc.report.thumbnails import ThumbnailSheet

# Positions of points are integers up to this.
GRID = 1000
# Clusters that are listed as touched by a cluster, and points that are shown for each.
TOUCHED_SHOWN, JOINING_SHOWN = 6, 8


def page_data(content: Content) -> dict[str, Any]:
    """Return the data of a page, in JSON types."""
    samples, names = content.samples, content.samples.names
    class_names, classes = (
        (None, None)
        if samples.classes is None
        else (values.tolist() for values in np.unique(samples.classes, return_inverse=True))
    )
    return {
        "hues": hues(content.n_clusters),
        "grid": GRID,
        "labels": samples.labels.tolist(),
        "confidence": np.rint(100 * samples.confidence).astype(int).tolist(),
        "names": names if samples.has_space_for_names else None,
        "someNames": None
        if names is None or samples.has_space_for_names
        else {str(i): names[i] for i in shown_members(content).tolist()},
        "classNames": class_names,
        "classes": classes,
        "clusters": [_cluster(content, cluster) for cluster in range(content.n_clusters)],
        "points": {
            "index": content.layout.samples.tolist(),
            "x": np.rint(GRID * content.layout.positions[:, 0]).astype(int).tolist(),
            "y": np.rint(GRID * content.layout.positions[:, 1]).astype(int).tolist(),
        },
        "affinity": _affinity(content),
        "contacts": _contacts(content),
    }


def sheet_data(sheet: ThumbnailSheet) -> dict[str, Any]:
    """Return where the thumbnails are on their sheet."""
    return {
        "samples": sheet.samples.tolist(),
        "columns": sheet.columns,
        "rows": sheet.rows,
        "width": sheet.width,
        "height": sheet.height,
    }


def shown_members(content: Content) -> Array:
    """Return the members that cards show at once, by rank: first one of every cluster."""
    lists = [*content.central, *content.doubtful]
    found = [
        members[rank] for rank in range(MEMBERS_SHOWN) for members in lists if rank < len(members)
    ]
    return np.array(found, dtype=np.int64)


def wanted_images(content: Content, seed: int) -> tuple[Array, int]:
    """Return samples to be shown as images, the most important first, and how many are needed."""
    shown = _unique(shown_members(content))
    joining = [
        point
        for cluster in range(content.n_clusters)
        for contact in _cluster(content, cluster)["touches"]
        for point in contact[3]
    ]
    others = np.random.default_rng(seed).permutation(content.samples.kept)
    queue = [shown, np.array(joining, dtype=np.int64), content.layout.samples, others]
    return _unique(np.concatenate(queue)), len(shown)


def _unique(samples: Array) -> Array:
    """Return samples without repetition, in the order of their first place."""
    return samples[np.sort(np.unique(samples, return_index=True)[1])]


def _cluster(content: Content, cluster: int) -> dict[str, Any]:
    contacts, kept = content.clusters.contacts, content.samples.kept
    features = content.clusters.features
    return {
        "typical": content.central[cluster].tolist(),
        "doubtful": content.doubtful[cluster].tolist(),
        "touches": [
            [
                other,
                round(100 * contacts.shares[cluster, other]),
                int(contacts.n_joining[cluster, other]),
                kept[contacts.joining(cluster, other, JOINING_SHOWN)].tolist(),
            ]
            for other in contacts.touched(cluster)[:TOUCHED_SHOWN].tolist()
        ],
        "features": None
        if features is None
        else [
            [f.name, f"{f.inside:.4g}", f"{f.outside:.4g}", round(f.difference, 2)]
            for f in features[cluster]
        ],
    }


def _affinity(content: Content) -> dict[str, Any]:
    picture = content.picture
    side = len(picture.levels)
    is_one_each = side == len(content.samples.kept)
    return {
        "side": side,
        "levels": base64.b64encode(picture.levels.tobytes()).decode(),
        "bounds": picture.bounds,
        # With one pixel per point, the tooltip can name the points.
        "order": content.samples.kept[picture.order].tolist() if is_one_each else None,
    }


def _contacts(content: Content) -> dict[str, Any]:
    """Return the picture of contacts: one number per pair, and which are proved separate."""
    contacts, separation = content.clusters.contacts, content.clusters.separation
    return {
        "shares": np.round(100 * contacts.shares, 1).ravel().tolist(),
        "joining": contacts.n_joining.ravel().tolist(),
        "proved": None if separation is None else separation.proved.astype(int).ravel().tolist(),
    }
