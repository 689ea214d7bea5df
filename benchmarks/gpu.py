"""A-DSSC on a GPU: features to labels, pixels to labels, and how far both are from the floor.

    DSSC_DATA=folder python benchmarks/gpu.py [--defaults] [--directions] [--models] [mnist] [n ...]

`mnist` is scattered MNIST at the paper's parameters; a number is that of deformed digits, with eta1
and eta2 scaled as in scale.py. Medians of five warm runs, two from half a million points on;
results in main memory at the end. The products of one triangle in half precision, nothing kept, are
timed in the same run, and so are the kernels, beside the largest product in eight bits and copy.

With `--defaults` there are fits to which nothing but the number of clusters is given, and (below
half a million points) not even this; with `--directions` one near the cosine end, eta1 = 1e5 with
20 neighbours; with `--models` those with ``symmetric=False`` and with ``eta3 > 0``, beside the CPU
engine.
"""

import statistics
import sys
import time

import numpy as np
import torch
from joblib import Parallel, delayed
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import dssc
from dssc.engines.torch.factor import TorchFactor
from dssc.engines.torch.graph import TorchGraph, csr_on_device
from dssc.engines.torch.sparse_sums import kernels_for

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
    repeats = 5 if n < 500_000 else 2
    features = lambda: dssc.scattered_features(images, device="cuda")  # noqa: E731
    X, cold = timed(features)
    pixels = [timed(features)[1] for _ in range(2 if n < 500_000 else 0)] or [cold]
    estimator(n).fit(X)
    runs = []
    for _ in range(repeats):
        torch.cuda.reset_peak_memory_stats()
        model, seconds = timed(lambda: estimator(n).fit(X))
        runs.append((seconds, model))
    seconds = statistics.median(run[0] for run in runs)
    model = min(runs, key=lambda run: abs(run[0] - seconds))[1]
    memory = torch.cuda.max_memory_allocated() / 2**30
    factor = TorchFactor(X, 1.0, False, X.device)
    bare_products(factor.bounds.vectors[: 4 * TILE])
    product = timed(lambda: bare_products(factor.bounds.vectors))[1]
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
    kernels(factor, model.affinity_matrix_)
    return X, model


def measure_fits(name, X, y, **parameters):
    """Print what fits take, the first of which may compile."""
    n_more = 3 if len(X) < 500_000 else 1
    fits = [
        timed(lambda: dssc.ADSSC(random_state=0, **parameters).fit(X)) for _ in range(1 + n_more)
    ]
    model = fits[-1][0]
    stages = {stage: round(seconds, 3) for stage, seconds in model.timings_.items()}
    print(
        f"{name}, {len(X):,} points, {parameters}: first fit {fits[0][1]:.2f} s, then "
        f"{statistics.median(seconds for _, seconds in fits[1:]):.3f} s; {stages}; "
        f"k={model.n_clusters_}, ACC {dssc.clustering_accuracy(y, model.labels_):.4f}; "
        f"{model.n_neighbors_:.1f} neighbours; {model.projection_.status}; "
        f"{model.projection_.n_rescanned:,} points reread",
        flush=True,
    )


def measure_models(name, X, y):
    """Print what the other models take on the GPU and by the CPU's engine."""
    host, n = X.cpu().numpy(), len(X)
    models = [
        {"eta1": 10.0 * n / N_MNIST, "eta2": 0.001 * N_MNIST / n, "symmetric": False},
        {"eta1": 0.1, "eta3": 0.05, "n_neighbors": 10},
    ]
    for parameters in models:
        ours, seconds = compiled_fit(X, parameters)
        theirs, cpu_seconds = compiled_fit(host, parameters)
        stages = {stage: round(part, 3) for stage, part in ours.timings_.items()}
        difference = abs(ours.affinity_matrix_ - theirs.affinity_matrix_).max()
        print(
            f"{name}, {n:,} points, {parameters}: GPU {seconds:.2f} s ({stages}), CPU engine "
            f"{cpu_seconds:.2f} s; affinities differ by {difference:.1e} at most, ARI of the "
            f"labels {adjusted_rand_score(theirs.labels_, ours.labels_):.4f}, ACC "
            f"{dssc.clustering_accuracy(y, ours.labels_):.4f}; {ours.projection_.status}",
            flush=True,
        )


def compiled_fit(X, parameters):
    """Return a fitted model and its seconds, after a fit of some points that compiles."""
    model = dssc.ADSSC(10, n_components=11, random_state=0, **parameters)
    model.fit(X[:5000])
    return timed(lambda: model.fit(X))


def kernels(factor, A):
    """Print how near each kernel comes to what the device can do."""
    n, width = factor.bounds.vectors.shape
    square = torch.randn((8192, 8192), device="cuda", dtype=torch.float16)
    small = (8 * square).to(torch.int8)
    products = 2 * 8192**3 / repeated(lambda: torch._int_mm(small, small.T))
    large = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    copying = 2 * large.numel() / repeated(lambda: large.clone())
    csr = csr_on_device(A, "cuda")
    rows = torch.repeat_interleave(torch.arange(n, device="cuda"), csr[0].diff())
    graph = TorchGraph(csr[0], rows, csr[1], csr[2], csr[2] < 0)
    w = torch.zeros(n, dtype=torch.float64, device="cuda")
    sums = kernels_for(w.device)
    row_sums, counts, positive = sums.positive_parts(graph, w)
    system, diagonal = sums.NewtonSystem(graph), 1.01 * counts.clamp(min=1.0)
    solve = lambda: system.solve_for(positive, diagonal, row_sums - 0.5, 1e-12, 64)  # noqa: E731
    n_steps = solve().n_products
    block = torch.zeros((n, 16), device="cuda")
    single = csr[0], csr[1], csr[2].float()
    limits = torch.full((n,), 1e3, device="cuda")
    d, nnz = factor.exact.vectors.shape[1], len(rows)
    pairs = rows.contiguous(), csr[1].long()
    table = [
        ("filter of all pairs",
         lambda: factor.filters.pairs_above(factor.bounds, factor.coarse, limits, float),
         n * n * width, products),
        ("exact products", lambda: factor.products(*pairs), nnz * 16 * d, copying),
        (f"{n_steps} steps of conjugate gradients", solve, n_steps * (nnz * 13 + n * 120), copying),
        ("Chebyshev step", lambda: sums.combination(single, block, 1.0, 0.0, block, 1.0),
         nnz * (8 + 64) + n * 3 * 64, copying),
    ]  # fmt: skip
    print(
        "| kernel | ms | operations or bytes | per second | ceiling | share |\n" + "|---" * 6 + "|"
    )
    for name, call, work, ceiling in table:
        seconds = repeated(call)
        print(
            f"| {name} | {1e3 * seconds:.3f} | {work:.2e} | {work / seconds:.2e} | {ceiling:.2e} "
            f"| {work / seconds / ceiling:.2f} |"
        )


def repeated(function):
    """Return the median seconds of five calls after a first one."""
    function()
    return statistics.median(timed(function)[1] for _ in range(5))


def main(arguments):
    """Print one row of a Markdown table for each data set, and what other fits of it take."""
    options = {"--defaults", "--directions", "--models"}.intersection(arguments)
    sets = [argument for argument in arguments if argument not in options]
    print(
        "| data | n | half product ms | features to labels s | "
        + " ms | ".join(STAGES)
        + " ms | pixels to labels s | peak GiB | ACC | NMI | SPE | NNZ |"
    )
    print("|---" * 15 + "|")
    for argument in sets or ["mnist", "145600"]:
        if argument == "mnist":
            data = dssc.fetch_mnist()
            name, images, y = "MNIST", data.images, data.target
        else:
            name = "deformed digits"
            images, y = deformed_digits(int(argument.replace("_", "")))
        X, model = measure(name, images, y)
        if "--defaults" in options:
            for n_clusters in (10, None) if len(X) < 500_000 else (10,):
                measure_fits(name, X, y, n_clusters=n_clusters)
        if "--directions" in options:
            measure_fits(name, X, y, n_clusters=10, eta1=1e5, n_neighbors=20)
        if "--models" in options:
            measure_models(name, X, y)
        if argument == "mnist":
            compare(X, model)


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
