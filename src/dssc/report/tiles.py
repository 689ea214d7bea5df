"""The tiles at the top of the page: the few numbers that say how good a clustering is."""

from typing import Any

import numpy as np

from dssc.report.content import Content

# What the scores mean.
SCORE_MEANINGS = {
    "ACC": "share of points in the cluster matched with their class",
    "NMI": "mutual information of clusters and classes, 1 at best",
    "SPE": "share of affinity between classes, 0 at best",
}
# Share of points outside of the largest components, as many as clusters, that is no alarm.
MOST_STRAY = 0.01
# A gap between eigenvalues below this is none.
SMALLEST_GAP = 1e-3
# Share of the affinity inside clusters from which its tile is marked as good, in a
# clustering that is clear: cuts through points without clusters can leave as much inside.
GOOD_SHARE_INSIDE = 0.9


def summary_tiles(content: Content) -> list[str]:
    """Return the tiles of a page."""
    share = content.share.mean()
    is_clear = content.verdict is not None and content.verdict.kind == "clear"
    return [
        _components_tile(content),
        _gap_tile(content, is_clear),
        _tile(
            "Affinity inside clusters",
            f"{share:.1%}",
            f"{content.nonzeros:.1f} nonzeros per point",
            "good" if is_clear and share > GOOD_SHARE_INSIDE else "",
        ),
        *(
            _tile(name, f"{score:.3f}", SCORE_MEANINGS[name])
            for name, score in (content.scores or {}).items()
        ),
        _certificate_tile(content.certificate),
    ]


def _tile(name: str, value: str, text: str, kind: str = "") -> str:
    return (
        f'<div class="tile {kind}"><span class="name">{name}</span>'
        f'<span class="value">{value}</span><span class="text">{text}</span></div>'
    )


def _certificate_tile(result: Any) -> str:
    if result is None:
        return _tile(
            "Optimisation", "none", "a symmetric affinity needs no solver: nothing is to be proved"
        )
    if hasattr(result, "violations"):
        numbers = f"optimality conditions of every row within {result.violations.max():.0e}"
    else:
        numbers = f"sums within {result.marginal_error:.0e}, duality gap {result.gap:.0e}"
    if result.converged:
        return _tile("Optimisation", "optimal", f"proved: {numbers}")
    return _tile("Optimisation", "not converged", numbers, "bad")


def _components_tile(content: Content) -> str:
    sizes, k = content.component_sizes, content.n_clusters
    n_components, n_stray = len(sizes), int(sizes[k:].sum())
    if n_stray == 0 or k == 1:
        text, kind = f"for {k} cluster{'s' if k > 1 else ''}", ""
    elif n_stray <= MOST_STRAY * content.n_samples:
        text, kind = f"{n_stray:,} stray points beside the {k} largest: perhaps outliers", ""
    else:
        text, kind = f"more than the {k} clusters: raise eta2 or n_neighbors", "bad"
    return _tile("Connected components", f"{n_components:,}", text, kind)


def _gap_tile(content: Content, is_clear: bool) -> str:
    values, k = content.eigenvalues, content.n_clusters
    if len(values) <= k:
        return _tile("Eigengap", "none", "as many clusters as points")
    gaps = values[:-1] - values[1:]
    widest = int(np.argmax(gaps)) + 1
    if gaps[widest - 1] < SMALLEST_GAP:
        text, kind = "no gap among the eigenvalues shown", ""
    elif widest == k:
        text, kind = "the widest among the eigenvalues shown", "good" if is_clear else ""
    else:
        text, kind = f"the widest, {gaps[widest - 1]:.2g}, is after {widest}", ""
        if widest > k and not _uses_eigenvectors_up_to(widest, content):
            text += f": try n_components={widest}"
    return _tile(f"Eigengap after {k}", f"{gaps[k - 1]:.2g}", text, kind)


def _uses_eigenvectors_up_to(number: int, content: Content) -> bool:
    """Return whether the clustering used the eigenvectors after the k-th; ADSSC does by default."""
    n_components = content.parameters.get("n_components")
    return n_components == number or (n_components is None and content.method == "ADSSC")
