"""The pictures: the embedding, the affinity, contacts, and the number of clusters."""

from dssc.report.content import Content
from dssc.report.count_pictures import modularity_picture, sizes_picture
from dssc.report.markup import section
from dssc.report.spectrum_picture import spectrum_picture, spectrum_text


def embedding(content: Content) -> str:
    """Return the frame of the scatter plot."""
    n, shown = len(content.samples.kept), len(content.layout.samples)
    sampled = f" {shown:,} of {n:,} points are drawn, chosen at random." if shown < n else ""
    text = (
        f"Rows of the spectral embedding, laid out by {content.layout.method}. Groups that touch "
        f"or mix are doubtful clusters; distances between groups mean little.{sampled} Hover over "
        "a point, or step through the points with the arrow keys."
    )
    options = "".join(f"<option>{cluster}</option>" for cluster in range(content.n_clusters))
    canvas = (
        '<p class="tools"><label>Highlight cluster <select id="highlight">'
        f'<option value="">all</option>{options}</select></label></p>'
        '<canvas id="embedding" tabindex="0" role="img" aria-label="Scatter plot of '
        f"{shown:,} points in {content.n_clusters} groups coloured by cluster. "
        'Arrow keys move from point to point."></canvas>'
    )
    return section("map", "Map of the points", text, canvas)


def affinity(content: Content) -> str:
    """Return the frames of the affinity between points and of that between clusters."""
    side, n = len(content.picture.levels), len(content.samples.kept)
    pooled = (
        f" Each pixel is the sum over about {n / side:.0f} x {n / side:.0f} pairs."
        if side < n
        else ""
    )
    inside = content.samples.confidence[content.samples.kept].mean()
    points = (
        "<figure><h3>Between points</h3>"
        '<canvas id="affinity" class="square" role="img" aria-label="Affinity matrix sorted by '
        f'cluster; {inside:.1%} of its mass lies in the diagonal blocks."></canvas>'
        "<figcaption>Points are sorted by cluster. Blocks on the diagonal are connections inside "
        f"clusters; everything else connects different clusters.{pooled}</figcaption></figure>"
    )
    body = points if content.n_clusters == 1 else points + _contacts(content)
    text = f"Who is connected with whom: {content.nonzeros:.1f} nonzeros per point."
    return section("affinity-section", "Affinity", text, f'<div class="pair">{body}</div>')


def _contacts(content: Content) -> str:
    separation = content.clusters.separation
    proofs = (
        ""
        if separation is None
        else " A dot marks pairs of clusters that are proved to be separate at this eta2."
    )
    label = "Affinity between clusters, as a share of the smaller one."
    if separation is not None:
        label += f" {separation.n_proved} of {separation.n_pairs} pairs are proved separate."
    return (
        "<figure><h3>Between clusters</h3>"
        f'<canvas id="contacts" class="square" role="img" aria-label="{label}"></canvas>'
        "<figcaption>The darker, the larger the share of the smaller cluster's affinity that leads "
        f"to the other.{proofs}</figcaption></figure>"
    )


def number_of_clusters(content: Content) -> str:
    """Return the spectrum, and what other numbers of clusters would give."""
    values, k = content.eigenvalues, content.n_clusters
    listed = ", ".join(f"{value:.4f}" for value in values)
    body = (
        f"<h3>Leading eigenvalues of the affinity</h3><p>{spectrum_text(values, k)} Each value of "
        f"1 belongs to a connected component.</p>{spectrum_picture(values, k)}"
        f"<details><summary>The numbers</summary><p>{listed}</p></details>"
    )
    if content.exploration is not None:
        body += (
            "<h3>Modularity of other numbers of clusters</h3><p>The share of affinity inside "
            "clusters, less what chance would put there. High is good; a flat curve says that "
            f"several numbers are as good.</p>{modularity_picture(content.exploration, k)}"
            "<h3>Sizes of their clusters</h3><p>Each dot is a cluster. Where a further number only "
            f"splits off a splinter, it adds nothing.</p>{sizes_picture(content.exploration, k)}"
        )
    elif hasattr(content.model, "explore"):
        body += (
            "<p>Other numbers were not tried. In Python, give <code>exploration=model.explore()"
            "</code> to <code>html_report</code>.</p>"
        )
    return section("number", "Number of clusters", "", body)
