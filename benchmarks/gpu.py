"""A-DSSC on a GPU: features to labels, pixels to labels, and how far both are from the floor.

    DSSC_DATA=folder python benchmarks/gpu.py [mnist] [n ...]

`mnist` is scattered MNIST at the paper's parameters; a number is that of deformed digits, with eta1
and eta2 scaled as in scale.py. Medians of five warm runs (one for half a million points and more),
results in main memory at the end. The products of one triangle in half precision, nothing kept, are
timed in the same run.
"""

import statistics
import sys
import time

import numpy as np
import torch
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import dssc
from dssc.gpu.factor import DeviceFactor

N_MNIST = 70_000
STAGES = ("factor", "scan", "projection", "eigenvectors", "labels")
TILE = 8192
BLOCK = 20_000  # deformed digits that one process makes at a time


def timed(function):
    """Return the result of a call and its seconds, the device's work included."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    result = function()
    torch.cuda.synchronize()
    return result, time.perf_counter() - start


def bare_products(units):
    """Multiply the tiles of one triangle in half precision and keep nothing."""
    for i in range(0, len(units), TILE):
        for j in range(i, len(units), TILE):
            _ = units[i : i + TILE] @ units[j : j + TILE].T


def estimator(n):
    """Return the estimator with the paper's parameters for MNIST, scaled to n points."""
    return dssc.ADSSC(
        10, n_components=11, eta1=10.0 * n / N_MNIST, eta2=0.001 * N_MNIST / n, random_state=0
    )


def measure(name, images, y):
    """Print one row for a data set."""
    n = len(images)
    repeats = 5 if n < 500_000 else 1
    features = lambda: dssc.scattered_features(images, device="cuda")  # noqa: E731
    X, cold = timed(features)
    pixels = [timed(features)[1] for _ in range(2 if n < 500_000 else 0)] or [cold]
    if repeats > 1:
        estimator(n).fit(X)
    runs = []
    for _ in range(repeats):
        torch.cuda.reset_peak_memory_stats()
        model, seconds = timed(lambda: estimator(n).fit(X))
        runs.append((seconds, model))
    seconds = statistics.median(run[0] for run in runs)
    model = min(runs, key=lambda run: abs(run[0] - seconds))[1]
    memory = torch.cuda.max_memory_allocated() / 2**30
    units = DeviceFactor(X, 1.0, X.device).units
    bare_products(units[: 4 * TILE])
    product = timed(lambda: bare_products(units))[1]
    stages = " | ".join(f"{1e3 * model.timings_.get(stage, 0):.1f}" for stage in STAGES)
    print(
        f"| {name} | {n:,} | {1e3 * product:.1f} | {seconds:.3f} | {stages} "
        f"| {min(pixels) + seconds:.2f} | {memory:.1f} "
        f"| {dssc.clustering_accuracy(y, model.labels_):.4f} "
        f"| {normalized_mutual_info_score(y, model.labels_):.4f} "
        f"| {dssc.subspace_preserving_error(model.affinity_matrix_, y):.4f} "
        f"| {dssc.nonzeros_per_point(model.affinity_matrix_):.2f} |",
        flush=True,
    )
    print(f"{name}: {model.projection_.status}; all fits {[round(r[0], 4) for r in runs]}")
    return X, model


def main(arguments):
    """Print one row of a Markdown table for each data set."""
    print(
        "| data | n | half product ms | features to labels s | "
        + " ms | ".join(STAGES)
        + " ms | pixels to labels s | peak GiB | ACC | NMI | SPE | NNZ |"
    )
    print("|---" * 15 + "|")
    for argument in arguments or ["mnist", "145600"]:
        if argument == "mnist":
            data = dssc.fetch_mnist()
            X, model = measure("MNIST", data.images, data.target)
            compare(X, model)
        else:
            measure("deformed digits", *deformed_digits(int(argument.replace("_", ""))))


def deformed_digits(n):
    """Make deformed digits on all processors."""
    sizes = [min(BLOCK, n - start) for start in range(0, n, BLOCK)]
    parts = Parallel(n_jobs=-1)(
        delayed(dssc.make_deformed_digits)(size, random_state=seed)
        for seed, size in enumerate(sizes)
    )
    images, labels = zip(*parts, strict=True)
    return np.concatenate(images), np.concatenate(labels)


def compare(X, model):
    """Fit the same features by the CPU's engine."""
    other, seconds = timed(lambda: estimator(len(X)).set_params(device="cpu").fit(X.cpu()))
    difference = abs(other.affinity_matrix_ - model.affinity_matrix_).max()
    agreement = adjusted_rand_score(other.labels_, model.labels_)
    print(
        f"CPU engine: {seconds:.1f} s; largest difference of the affinities {difference:.1e}, "
        f"ARI of the labels {agreement:.5f}"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
