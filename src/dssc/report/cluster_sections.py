"""The clusters: a table of all of them, and a card for each."""

from html import escape

import numpy as np

from dssc.report.content import Content
from dssc.report.markup import colour, count_of, dot, section, table

# Touching clusters that the table lists for each cluster.
TOUCHED_LISTED = 4
# Cards that are open from the start, if there are no more.
OPEN_CARDS = 12


def cluster_table(content: Content) -> str:
    """Return the table of clusters, which can be sorted by each column."""
    heads = [_head("cluster"), _head("size", "num"), "<td></td>", _head("confidence", "num")]
    facts = content.clusters
    if facts.found_again is not None:
        heads.append(_head("found again", "num"))
    if facts.dimensions is not None:
        heads.append(_head("dimension", "num"))
    heads.append(_head("touches"))
    if facts.classes is not None:
        heads.append(_head("most common class"))
    rows = [_row(content, cluster) for cluster in range(content.n_clusters)]
    words = [
        "<i>Confidence</i> is the share of a point's affinity that stays inside the cluster, on "
        "average."
    ]
    if facts.found_again is not None:
        words.append(
            "<i>Found again</i> is the overlap with clusters of random halves of the points, 1 at "
            "best."
        )
    if facts.dimensions is not None:
        words.append("<i>Dimension</i> is that of the subspace near its points.")
    words.append("It <i>touches</i> clusters that share 5% of the affinity of the smaller one.")
    return section("clusters", "Clusters", " ".join(words), table("sortable", heads, rows))


def _head(name: str, kind: str = "") -> str:
    return f'<th scope=col class="{kind}"><button type="button" class="sort">{name}</button></th>'


def _row(content: Content, cluster: int) -> str:
    facts, k = content.clusters, content.n_clusters
    size = int(facts.sizes[cluster])
    width = 100 * size / max(1, facts.sizes.max())
    cells = [
        f'<th scope=row data-v="{cluster}"><a href="#cluster-{cluster}">{dot(cluster, k)}{cluster}'
        "</a></th>",
        _number(size, f"{size:,}"),
        f'<td class="bar"><span style="{colour(cluster, k)};width:{width:.1f}%"></span></td>',
        _number(facts.confidence[cluster], f"{facts.confidence[cluster]:.0%}"),
    ]
    if facts.found_again is not None:
        found = facts.found_again[cluster]
        cells.append(_number(np.nan_to_num(found, nan=-1.0), _or_nothing(found)))
    if facts.dimensions is not None:
        cells.append(_number(facts.dimensions[cluster], str(facts.dimensions[cluster])))
    cells.append(_touched(content, cluster))
    if facts.classes is not None:
        name, share = facts.classes[cluster]
        text = f"{escape(name)} ({share:.0%})" if share else ""
        cells.append(f'<td data-v="{share:.4f}">{text}</td>')
    return f"<tr>{''.join(cells)}</tr>"


def _touched(content: Content, cluster: int) -> str:
    facts = content.clusters
    touched = facts.contacts.touched(cluster)
    names = ", ".join(map(str, touched[:TOUCHED_LISTED]))
    n_more = len(touched) - TOUCHED_LISTED
    more = f" and {n_more} more" if n_more > 0 else ""
    is_isolated = facts.is_isolated
    if not len(touched):
        is_proved = is_isolated is not None and content.n_clusters > 1 and is_isolated[cluster]
        names = '<span class="soft">none (proved)</span>' if is_proved else ""
    return f'<td data-v="{len(touched)}">{names}{more}</td>'


def _number(value: float, text: str) -> str:
    return f'<td class="num" data-v="{value:.6g}">{text}</td>'


def _or_nothing(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def cards(content: Content) -> str:
    """Return a card for each cluster; the script fills those that are open."""
    is_open = " open" if content.n_clusters <= OPEN_CARDS else ""
    items = "".join(
        f'<details class="card" id="cluster-{cluster}" data-cluster="{cluster}"{is_open}>'
        f"<summary><h3>{dot(cluster, content.n_clusters)}Cluster {cluster}</h3>"
        f"<span>{_words(content, cluster)}</span></summary>"
        '<div class="body"></div></details>'
        for cluster in range(content.n_clusters)
    )
    text = (
        "<i>Typical</i> members are closest to the mean direction of their cluster in the "
        "embedding. <i>Doubtful</i> ones have the smallest lead over the next cluster: check these "
        "by eye."
    )
    if content.samples.images is not None:
        text += " Select an image to enlarge it."
    buttons = (
        '<p class="tools"><button type="button" id="unfold">Open all</button>'
        '<button type="button" id="fold">Close all</button></p>'
    )
    layout = "cards" if is_open else "cards many"
    missing = "<noscript><p>Members are shown by a script, which is switched off.</p></noscript>"
    return section(
        "members",
        "Cluster by cluster",
        text,
        f'{buttons}{missing}<div class="{layout}">{items}</div>',
    )


def _words(content: Content, cluster: int) -> str:
    """Return the facts of a cluster as one line; where there is little space, the first ones."""
    facts = content.clusters
    first = [count_of(int(facts.sizes[cluster]), "member")]
    if facts.found_again is not None and not np.isnan(facts.found_again[cluster]):
        first.append(f"found again {facts.found_again[cluster]:.2f}")
    parts = [f"confidence {facts.confidence[cluster]:.0%}"]
    if facts.dimensions is not None:
        parts.append(count_of(int(facts.dimensions[cluster]), "dimension"))
    if facts.classes is not None and facts.classes[cluster][1]:
        name, share = facts.classes[cluster]
        parts.append(f"{share:.0%} class {escape(name)}")
    return f'{" · ".join(first)}<span class="more"> · {" · ".join(parts)}</span>'
