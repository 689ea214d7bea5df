"""A colour for each cluster: evenly spread hues, with consecutive clusters far apart."""

from math import gcd


def hues(n_clusters: int) -> list[int]:
    """Return a hue per cluster, in degrees."""
    stride = max(1, round(0.382 * n_clusters))
    while gcd(stride, n_clusters) > 1:
        stride += 1
    return [
        round(360 * (cluster * stride % n_clusters) / n_clusters) for cluster in range(n_clusters)
    ]
