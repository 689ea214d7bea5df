"""Count false proofs of separation, and how often a separation is proved.

    python -m benchmarks.separation [number of unions] [noise ...]

Small unions of subspaces with random sizes, dimensions, angles, noise and parameters are clustered,
and `ADSSC.separation` is compared with the projection of the whole problem in extended precision.
A proof is false if that projection has an entry between the two clusters. For every fifth union
`ADSSC.separation_range` is judged in the same way, at a random eta2 inside the range of each pair.
"""

import sys
import warnings

import numpy as np

from dssc import ADSSC, least_squares_representation, unit_norm
from tests.exact_projection import exact_projection

NOISE = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
# Largest marginal error of a projection that judges.
ACCURATE = 1e-15


def union(rng, noise):
    """Return points of subspaces that share some directions."""
    k, dimension = rng.integers(2, 5), rng.integers(1, 4)
    n_features = int(rng.integers(dimension + 1, 13))
    common = rng.normal(size=(dimension, n_features))
    angle = rng.choice([0.2, 0.5, 1.0])  # small: subspaces are nearly the same
    points = []
    for size in rng.integers(4, 16, k):
        basis = (1 - angle) * common + angle * rng.normal(size=(dimension, n_features))
        points.append(rng.normal(size=(size, dimension)) @ basis)
    X = unit_norm(np.concatenate(points))
    return unit_norm(X + noise / np.sqrt(n_features) * rng.normal(size=X.shape)), int(k)


def largest_between(K, eta2, start, members):
    """Return the largest entry of the exact projection between each two clusters, or None."""
    A, error = exact_projection(K, eta2, start)
    if error > ACCURATE:
        return None
    return np.array([[A[np.ix_(p, q)].max() for q in members.T] for p in members.T])


def judged_ranges(model, K, members, rng):
    """Return how many ranges were judged at a random eta2 inside them, and how many are false."""
    ranges = model.separation_range()
    n_judged = n_false = 0
    for p, q in np.argwhere(np.triu(~np.isnan(ranges.lows))):
        eta2 = rng.uniform(ranges.lows[p, q], ranges.highs[p, q])
        largest = largest_between(K, eta2, model.projection_.potentials[0], members)
        if largest is not None:
            n_judged += 1
            n_false += largest[p, q] > 0
    return n_judged, n_false


def judged(rng, noise, with_ranges):
    """Return truth and proof for all pairs of clusters of a random union; None if not judged."""
    X, k = union(rng, noise)
    eta1, n_neighbors = 10.0 ** rng.uniform(-3, 1), int(rng.integers(1, 8))
    model = ADSSC(k, eta1=eta1, n_neighbors=n_neighbors, n_init=1, random_state=0).fit(X)
    if model.projection_ is None or len(model.distinct_rows_) < len(X):
        return None
    separation = model.separation()
    C = least_squares_representation(unit_norm(X), model.eta1_)
    K = abs(C)
    K = (K + K.T) / 2
    members = model.labels_[:, None] == np.arange(k)
    largest = largest_between(K, separation.eta2, model.projection_.potentials[0], members)
    if largest is None:
        return None
    pairs = np.triu_indices(k, 1)
    ranges = judged_ranges(model, K, members, rng) if with_ranges else (0, 0)
    return largest[pairs] == 0, separation.proved[pairs], ranges


def main(n_unions, noises):
    """Print counts by noise."""
    warnings.simplefilter("ignore")
    columns = ("noise", "unions", "pairs of clusters", "disconnected", "proved", "false proofs")
    print("| " + " | ".join((*columns, "ranges judged", "false ranges")) + " |")
    print("|---|---|---|---|---|---|---|---|")
    for noise in noises:
        rng = np.random.default_rng(NOISE.index(noise))
        numbers = range(n_unions // len(NOISE) + 1)
        entries = [judged(rng, noise, number % 5 == 0) for number in numbers]
        entries = [entry for entry in entries if entry is not None]
        truths, proofs, ranges = zip(*entries, strict=True)
        truth, proof = np.concatenate(truths), np.concatenate(proofs)
        counts = (
            len(entries),
            len(truth),
            truth.sum(),
            (truth & proof).sum(),
            (proof & ~truth).sum(),
            *np.sum(ranges, axis=0),
        )
        print(f"| {noise} | " + " | ".join(f"{count:,}" for count in counts) + " |", flush=True)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 11_500,
        [float(noise) for noise in sys.argv[2:]] or NOISE,
    )
