"""k-means with all restarts at once, on a device."""

from collections.abc import Callable

import numpy as np
import torch

from dssc._typing import Array
from dssc.spectral.counts import check_counts, check_nonzero_rows
from dssc.spectral.kmeans import n_seed_points, n_seed_trials
from dssc.spectral.labels import place_strays

# Most steps of Lloyd's algorithm.
MAX_STEPS = 300
# Distances that are held at once.
MOST_DISTANCES = 1 << 29
# Squared movement of the centers that ends a run, as a share of the mean variance of a feature.
TOLERANCE = 1e-4


def device_labels(
    U: Array,
    n_clusters: int,
    n_init: int,
    mass: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
    rng: np.random.RandomState,
    device: torch.device,
) -> Array:
    """Return a label for every row of a spectral embedding, as `dssc.assign_labels` does.

    ``mass(rows, members)`` returns the product of rows of the similarities with a matrix. It places
    the points whose row is zero.
    """
    check_counts(len(U), n_clusters, U.shape[1])
    points = torch.as_tensor(U, device=device)
    norms = torch.linalg.vector_norm(points, dim=1)
    placed = torch.nonzero(norms > 0).view(-1)
    check_nonzero_rows(len(placed), n_clusters)
    points = (points[placed] / norms[placed, None]).float()
    generator = torch.Generator(device=device).manual_seed(int(rng.randint(2**31 - 1)))
    clusters = _lloyd(points, _first_centers(points, n_clusters, n_init, generator))
    labels = torch.empty(len(U), dtype=torch.int64, device=device)
    labels[placed] = clusters
    if len(placed) < len(U):
        members = torch.zeros((len(U), n_clusters), device=device)
        members[placed, clusters] = 1.0
        members /= members.sum(dim=0)
        strays = torch.nonzero(norms == 0).view(-1)
        place_strays(strays, lambda rows: mass(rows, members), labels)
    return labels.int().cpu().numpy()


def _first_centers(
    points: torch.Tensor, n_clusters: int, n_init: int, generator: torch.Generator
) -> torch.Tensor:
    """Return first centers (n_init, n_clusters, d) by greedy k-means++ on a sample of points."""
    n_drawn = n_seed_points(len(points), n_clusters)
    n_trials = n_seed_trials(n_clusters)
    device = points.device
    drawn = torch.randperm(len(points), generator=generator, device=device)[:n_drawn]
    points = points[drawn]
    first = torch.randint(n_drawn, (n_init,), generator=generator, device=device)
    centers = points[first][:, None]
    nearest = _squared_distances(points, centers[:, 0])
    runs = torch.arange(n_init, device=device)
    for _ in range(n_clusters - 1):
        weights = torch.clamp(nearest, min=0.0) + 1e-12
        candidates = torch.multinomial(weights, n_trials, generator=generator, replacement=True)
        distances = _squared_distances(points, points[candidates].view(-1, points.shape[1]))
        distances = torch.minimum(distances.view(n_init, n_trials, -1), nearest[:, None])
        best = distances.sum(dim=2).argmin(dim=1)
        nearest = distances[runs, best]
        centers = torch.cat([centers, points[candidates[runs, best]][:, None]], dim=1)
    return centers


def _squared_distances(points: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Return squared distances (n_centers, n_points)."""
    return (
        centers.square().sum(dim=1)[:, None] - 2.0 * centers @ points.T + points.square().sum(dim=1)
    )


def _lloyd(points: torch.Tensor, centers: torch.Tensor) -> torch.Tensor:
    """Move the centers of all runs to the means of their points; return labels of the best run."""
    n_clusters, d = centers.shape[1:]
    tol = TOLERANCE * points.var(dim=0).mean()
    lengths = points.square().sum(dim=1)
    # The products of indicators with a column of ones are the sizes of the clusters.
    counted = torch.cat([points, points.new_ones((len(points), 1))], dim=1)
    for _ in range(MAX_STEPS):
        distances, labels = _nearest(points, centers)
        sums = _cluster_sums(counted, labels, n_clusters)
        counts = sums[:, d:]
        means = (sums[:, :d] / counts.clamp(min=1)).float()
        # An empty cluster takes the point farthest from its center.
        farthest = points[(distances + lengths).argmax(dim=1)].repeat_interleave(n_clusters, dim=0)
        means = torch.where(counts > 0, means, farthest).view_as(centers)
        has_moved = (means - centers).square().sum(dim=(1, 2)) > tol
        centers = means
        if not bool(has_moved.any()):
            break
    distances, labels = _nearest(points, centers)
    return labels[distances.sum(dim=1, dtype=torch.float64).argmin()]


def _nearest(points: torch.Tensor, centers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return for every run the points' squared distances, less ``|x|^2``, and nearest centers."""
    n_init, n_clusters, d = centers.shape
    flat = centers.reshape(-1, d)
    lengths = flat.square().sum(dim=1)[:, None]
    nearest = []
    for part in points.split(_n_together(len(flat))):
        squares = torch.addmm(lengths, flat, part.T, alpha=-2.0)
        nearest.append(squares.view(n_init, n_clusters, -1).min(dim=1))
    distances, labels = (torch.cat(parts, dim=1) for parts in zip(*nearest, strict=True))
    return distances, labels


def _cluster_sums(points: torch.Tensor, labels: torch.Tensor, n_clusters: int) -> torch.Tensor:
    """Return the sum of the points of every cluster of each run."""
    n_rows = len(labels) * n_clusters
    clusters = torch.arange(n_clusters, device=points.device)[:, None]
    sums = torch.zeros((n_rows, points.shape[1]), dtype=torch.float64, device=points.device)
    size = _n_together(n_rows)
    for part, own in zip(points.split(size), labels.split(size, dim=1), strict=True):
        # Products with indicators always sum in the same order, unlike atomic additions.
        members = (own[:, None] == clusters).view(n_rows, len(part)).to(points.dtype)
        sums += members @ part
    return sums


def _n_together(n_centers: int) -> int:
    """Return the number of points whose distances from all centers are held at once."""
    return max(1, MOST_DISTANCES // n_centers)
