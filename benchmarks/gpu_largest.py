"""How many points a GPU clusters in ten minutes: a noisy union of subspaces.

    python benchmarks/gpu_largest.py [n ...]

Half a million points for every subspace of dimension 10, in 500 coordinates, whatever n is: then
the similarities of a subspace are the same, and the eta2 that the first n is given by the number of
its neighbours serves all. eta1 lies between what noise and what a subspace adds to X'X.
"""

import resource
import sys
import time

import numpy as np
import torch

import dssc

POINTS, DIMENSION, N_FEATURES, NOISE = 500_000, 10, 500, 0.2
N_NEIGHBORS, ETA1 = 14, 10_000.0
CHUNK = 100_000


def subspaces(n):
    """Return n points, in turns from each subspace, and their labels."""
    n_clusters = max(2, n // POINTS)
    generator = torch.Generator(device="cuda").manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda")

    bases = torch.linalg.qr(normal(n_clusters, N_FEATURES, DIMENSION))[0].mT
    y = np.arange(n) % n_clusters
    X = torch.empty((n, N_FEATURES), device="cuda")
    for start in range(0, n, CHUNK):
        rows = slice(start, min(n, start + CHUNK))
        labels = torch.as_tensor(y[rows], device="cuda")
        points = normal(len(labels), DIMENSION)
        points /= torch.linalg.vector_norm(points, dim=1, keepdim=True)
        noise = normal(len(labels), N_FEATURES) * (NOISE / N_FEATURES**0.5)
        for label in range(n_clusters):
            at = labels == label
            noise[at] += points[at] @ bases[label]
        X[rows] = noise
    return X, y


def main(arguments):
    """Print one row of a Markdown table for each number of points."""
    print(
        "| n | clusters | making s | fit s | stages s | GiB on the device | GiB in main memory "
        "| ACC | NNZ | status |\n" + "|---" * 10 + "|"
    )
    eta2 = None
    for n in [int(argument.replace("_", "")) for argument in arguments or ["1000000"]]:
        model = None
        start = time.perf_counter()
        X, y = subspaces(n)
        made = time.perf_counter()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
        k = int(y.max()) + 1
        model = dssc.ADSSC(
            k, n_components=k, eta1=ETA1, eta2=eta2, n_neighbors=N_NEIGHBORS,
            random_state=0, verbose=int(n > 2_000_000),
        ).fit(X)  # fmt: skip
        seconds, eta2 = time.perf_counter() - made, model.eta2_
        stages = ", ".join(f"{name} {value:.1f}" for name, value in model.timings_.items())
        print(
            f"| {n:,} | {k} | {made - start:.1f} | {seconds:.1f} | {stages} "
            f"| {torch.cuda.max_memory_allocated() / 2**30:.1f} "
            f"| {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} "
            f"| {dssc.clustering_accuracy(y, model.labels_):.4f} "
            f"| {dssc.nonzeros_per_point(model.affinity_matrix_):.2f} "
            f"| {model.projection_.status} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
