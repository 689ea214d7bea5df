"""How many points a GPU clusters in ten minutes: a noisy union of subspaces.

    python benchmarks/gpu_largest.py [n ...] [--host] [--stream] [--eta2 ETA2]

Half a million points for every subspace of dimension 10, in 500 coordinates, whatever n is: then
the similarities of a subspace are the same, and the eta2 that the first n is given by the number of
its neighbours, or the one that is passed, serves all. eta1 lies between what noise and what a
subspace adds to X'X. X is made on the device, and stays there or, with --host, goes to main memory.
With --stream, vectors in float64 are computed when they are needed even if they would fit.
"""

import argparse
import os
import threading
import time

os.environ.setdefault("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")

import numpy as np
import torch

import dssc
from dssc._threads import share_rows
from dssc.engines.torch.factor import TorchFactor
from dssc.kernels import python_threads_worth

POINTS, DIMENSION, N_FEATURES, NOISE = 500_000, 10, 500, 0.2
N_NEIGHBORS, ETA1 = 14, 10_000.0
CHUNK = 100_000


def place_of(device):
    """Return the torch device of a name that dssc takes."""
    return torch.device("cpu" if device == "torch" else device)


def chunks(n, device):
    """Yield slices of n points, in turns from each subspace, and the points on the device."""
    n_clusters = max(2, n // POINTS)
    place = place_of(device)
    generator = torch.Generator(device=place).manual_seed(0)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device=place)

    bases = torch.linalg.qr(normal(n_clusters, N_FEATURES, DIMENSION))[0].mT
    for start in range(0, n, CHUNK):
        rows = slice(start, min(n, start + CHUNK))
        points = normal(rows.stop - start, DIMENSION)
        points /= torch.linalg.vector_norm(points, dim=1, keepdim=True)
        X = normal(len(points), N_FEATURES) * (NOISE / N_FEATURES**0.5)
        for label in range(n_clusters):
            own = slice((label - start) % n_clusters, None, n_clusters)
            X[own] += points[own] @ bases[label]
        yield rows, X


def subspaces(n, host, device):
    """Return n points on the device or in main memory, and their labels."""
    if host:
        X = filled(np.empty((n, N_FEATURES), np.float32), device)
    else:
        X = torch.empty((n, N_FEATURES), device=place_of(device))
        for rows, points in chunks(n, device):
            X[rows] = points
    return X, np.arange(n) % max(2, n // POINTS)


def filled(X, device):
    """Fill an array or a memory map with points, on all threads."""
    staged = torch.empty((CHUNK, N_FEATURES), pin_memory=place_of(device).type == "cuda")
    arrived = staged.numpy()
    for rows, points in chunks(len(X), device):
        staged[: len(points)].copy_(points)

        def fill(part, target=X[rows]):
            target[part] = arrived[: len(target)][part]

        share_rows(fill, len(points), python_threads_worth(points.numel()))
    return X


class PeakMemory:
    """The largest memory of this process that is not that of files, in GiB, inside a block."""

    def __enter__(self):
        self.gigabytes, self.ended = 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()
        return self

    def watch(self):
        """Look at the memory five times per second."""
        while True:
            with open("/proc/self/status", encoding="utf-8") as lines:
                sizes = dict(line.split(":") for line in lines if line.startswith("Rss"))
            kilobytes = sum(int(sizes[name].split()[0]) for name in ("RssAnon", "RssShmem"))
            self.gigabytes = max(self.gigabytes, kilobytes / 2**20)
            if self.ended.wait(0.2):
                return

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def fit(X, eta2, device):
    """Return a fitted model, the seconds, and the peak GiB on the device and in main memory."""
    if on_gpu := place_of(device).type == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    k = max(2, len(X) // POINTS)
    with PeakMemory() as memory:
        model = dssc.ADSSC(
            k, n_components=k, eta1=ETA1, eta2=eta2, n_neighbors=N_NEIGHBORS,
            random_state=0, device=device, verbose=int(len(X) > 2_000_000),
        ).fit(X)  # fmt: skip
    seconds = time.perf_counter() - start
    on_device = torch.cuda.max_memory_allocated() / 2**30 if on_gpu else 0.0
    return model, seconds, on_device, memory.gigabytes


def stages(model, seconds):
    """Return the seconds of every stage in words, and what is left: checks, and copies of rows."""
    of_stages = model.timings_ | {"other": seconds - sum(model.timings_.values())}
    return ", ".join(f"{name} {value:.1f}" for name, value in of_stages.items())


def main():
    """Print one row of a Markdown table for each number of points."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=lambda text: int(text.replace("_", "")), nargs="*")
    parser.add_argument("--host", action="store_true", help="X in main memory")
    parser.add_argument("--stream", action="store_true", help="hold no vectors in float64")
    parser.add_argument("--eta2", type=float)
    parser.add_argument("--device", default="cuda", help="or torch, to try this without a GPU")
    options = parser.parse_args()
    print(
        "| n | clusters | X in | making s | fit s | stages s | GiB on the device "
        "| GiB in main memory | ACC | NNZ | eta2 | status |\n" + "|---" * 12 + "|",
        flush=True,
    )
    if options.stream:
        TorchFactor._is_short_of_memory = staticmethod(lambda *_: True)
    eta2, where = options.eta2, "main memory" if options.host else "device"
    for n in options.n or [1_000_000]:
        start = time.perf_counter()
        X, y = subspaces(n, options.host, options.device)
        made = time.perf_counter() - start
        model, seconds, on_device, in_memory = fit(X, eta2, options.device)
        eta2 = model.eta2_
        print(
            f"| {n:,} | {model.n_clusters_} | {where} | {made:.1f} "
            f"| {seconds:.1f} | {stages(model, seconds)} | {on_device:.1f} | {in_memory:.1f} "
            f"| {dssc.clustering_accuracy(y, model.labels_):.4f} "
            f"| {dssc.nonzeros_per_point(model.affinity_matrix_):.2f} "
            f"| {eta2!r} | {model.projection_.status} |",
            flush=True,
        )
        del X, model


if __name__ == "__main__":
    main()
