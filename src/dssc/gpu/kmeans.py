"""k-means with all restarts at once, on a device."""

import numpy as np
import torch

from dssc.spectral.counts import check_counts
from dssc.spectral.labels import (
    SEEDS_AMONG,
    SEEDS_PER_CLUSTER,
    STRAYS_AT_ONCE,
    too_few_rows,
)

MAX_STEPS = 300
TOLERANCE = 1e-4  # of the mean variance of a feature: the movement of centers that ends a run
TRIALS_BESIDE = 2  # candidates for a center beyond log(k), of which the best is taken


def device_labels(U, n_clusters: int, n_init: int, mass, rng, device) -> np.ndarray:
    """Return a label for every row of a spectral embedding, as `dssc.assign_labels` does.

    ``mass(rows, members)`` gives the product of some rows of similarities with a matrix; zero rows
    of the embedding are placed by it.
    """
    check_counts(len(U), n_clusters, U.shape[1])
    points = torch.as_tensor(U, device=device)
    norms = torch.linalg.vector_norm(points, dim=1)
    placed = torch.nonzero(norms > 0).view(-1)
    if len(placed) < n_clusters:
        raise ValueError(too_few_rows(len(placed), n_clusters))
    points = (points[placed] / norms[placed, None]).float()
    generator = torch.Generator(device=device).manual_seed(int(rng.randint(2**31 - 1)))
    found = _lloyd(points, _seeds(points, n_clusters, n_init, generator))
    labels = torch.empty(len(U), dtype=torch.int32, device=device)
    labels[placed] = found.int()
    if len(placed) < len(U):
        members = torch.zeros((len(U), n_clusters), device=device)
        members[placed, found] = 1.0
        members /= members.sum(dim=0)
        for strays in torch.nonzero(norms == 0).view(-1).split(STRAYS_AT_ONCE):
            labels[strays] = mass(strays, members).argmax(dim=1).int()
    return labels.cpu().numpy()


def _seeds(points, n_clusters, n_init, generator):
    """Return first centers (n_init, n_clusters, d) by greedy k-means++ on a sample of points."""
    n_drawn = min(len(points), max(SEEDS_AMONG, SEEDS_PER_CLUSTER * n_clusters))
    device = points.device
    drawn = torch.randperm(len(points), generator=generator, device=device)[:n_drawn]
    points = points[drawn]
    n_trials = TRIALS_BESIDE + int(np.log(n_clusters))
    first = torch.randint(n_drawn, (n_init,), generator=generator, device=device)
    centers = points[first][:, None]
    nearest = _squares(points, centers[:, 0])
    runs = torch.arange(n_init, device=device)
    for _ in range(n_clusters - 1):
        weights = torch.clamp(nearest, min=0.0) + 1e-12
        chosen = torch.multinomial(weights, n_trials, generator=generator, replacement=True)
        distances = _squares(points, points[chosen].view(-1, points.shape[1]))
        distances = torch.minimum(distances.view(n_init, n_trials, -1), nearest[:, None])
        best = distances.sum(dim=2).argmin(dim=1)
        nearest = distances[runs, best]
        centers = torch.cat([centers, points[chosen[runs, best]][:, None]], dim=1)
    return centers


def _squares(points, centers):
    """Return squared distances (n_centers, n_points)."""
    return (
        centers.square().sum(dim=1)[:, None] - 2.0 * centers @ points.T + points.square().sum(dim=1)
    )


def _lloyd(points, centers):
    """Move all runs' centers to the means of their points until none moves; return the best."""
    n_init, n_clusters, d = centers.shape
    n = len(points)
    tol = TOLERANCE * float(points.var(dim=0).mean())
    clusters = torch.arange(n_clusters, device=points.device)[:, None]
    labels = None
    for _ in range(MAX_STEPS):
        squares = _squares(points, centers.reshape(-1, d)).view(n_init, n_clusters, n)
        distances, now = squares.min(dim=1)
        if labels is not None and torch.equal(now, labels):
            break
        labels = now
        # Products with indicators: the same sums in the same order every time, unlike atomics.
        members = (labels[:, None] == clusters).view(-1, n).to(points.dtype)
        sums = (members @ points).double()
        counts = members.sum(dim=1, dtype=torch.float64)[:, None]
        moved = (sums / counts.clamp(min=1)).float()
        # An empty cluster takes the point farthest from its center.
        farthest = points[distances.argmax(dim=1)].repeat_interleave(n_clusters, dim=0)
        moved = torch.where(counts > 0, moved, farthest).view_as(centers)
        shift = (moved - centers).square().sum(dim=(1, 2))
        centers = moved
        if bool((shift <= tol).all()):
            break
    squares = _squares(points, centers.reshape(-1, d)).view(n_init, n_clusters, n)
    distances, labels = squares.min(dim=1)
    return labels[distances.double().sum(dim=1).argmin()]
