"""A-DSSC on the workers of a Dask cluster: time beside one process, rates, and a model of both.

    python benchmarks/dask_scaling.py [n ...] [--features 500] [--workers 2] [--repeats 2]
        [--memory-limit 700MB] [--keep-freed]

Points are a noisy union of subspaces in a .npy file that the workers read. For each n, one process
with as many threads as there are workers fits them, then that many workers of one thread each, in
turns, both after a small fit that loads the compiled code. The affinities are compared bit by bit.
Processor time is summed over the client and the workers; it says more on a busy machine.
With a memory limit, Dask writes results to disk before a worker reaches it, and replaces a worker
that exceeds it. With `--keep-freed` workers keep freed memory instead of returning it at once;
docs/many_machines.md has this setting. The last lines are the rates that docs/scaling.md uses.
"""

import argparse
import os
import tempfile
import time

N_CLUSTERS = 20
# Environment of workers that keep freed memory, up to a gigabyte.
KEEP_FREED = {"MALLOC_TRIM_THRESHOLD_": 1 << 30, "MALLOC_MMAP_THRESHOLD_": 1 << 30}
STAGES = ("factor", "scan", "projection", "eigenvectors", "labels")


def write_points(path, n, d):
    """Write a noisy union of subspaces of dimension 8."""
    import numpy as np

    rng = np.random.default_rng(0)
    bases = rng.standard_normal((N_CLUSTERS, 8, d))
    labels = rng.integers(0, N_CLUSTERS, n)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    for c in range(N_CLUSTERS):
        own = np.flatnonzero(labels == c)
        points = rng.standard_normal((len(own), 8)) @ bases[c]
        X[own] = points + 0.5 * rng.standard_normal((len(own), d))
    X.flush()


def rows(path, start, stop):
    """Return rows of a file; runs on a worker."""
    import numpy as np

    return np.load(path, mmap_mode="r")[start:stop]


def from_npy(path, n_rows=5000):
    """Return a Dask array whose chunks workers read from a .npy file."""
    import dask
    import dask.array as da
    import numpy as np

    X = np.load(path, mmap_mode="r")
    ends = [(i, min(i + n_rows, len(X))) for i in range(0, len(X), n_rows)]
    blocks = [
        da.from_delayed(dask.delayed(rows)(path, i, j), (j - i, X.shape[1]), X.dtype)
        for i, j in ends
    ]
    return da.concatenate(blocks)


def timed_fit(X):
    """Return a fitted model and the seconds it took."""
    from dssc import ADSSC

    start = time.perf_counter()
    model = ADSSC(N_CLUSTERS, eta1=10.0, n_neighbors=12, random_state=0, n_init=3).fit(X)
    return model, time.perf_counter() - start


def report(name, model, seconds):
    """Print the time of a fit by stage."""
    stages = ", ".join(f"{stage} {model.timings_.get(stage, 0.0):.2f}" for stage in STAGES)
    print(f"  {name}: {seconds:.2f} s ({stages})", flush=True)


def processor_seconds(client):
    """Return the processor time of the client and of all workers so far."""
    return time.process_time() + sum(client.run(time.process_time).values())


def compare(path, n, client, repeats):
    """Fit in one process and on the workers in turns; return the last two models."""
    import numpy as np

    ratios, processor_ratios = [], []
    processes = client.run(os.getpid)
    for _ in range(repeats):
        times = [processor_seconds(client)]
        alone, alone_seconds = timed_fit(np.load(path))
        report("one process", alone, alone_seconds)
        times.append(processor_seconds(client))
        spread, spread_seconds = timed_fit(from_npy(path))
        report("workers", spread, spread_seconds)
        times.append(processor_seconds(client))
        ratios.append(spread_seconds / alone_seconds)
        alone_used, spread_used = np.diff(times)
        print(f"  processor seconds: {alone_used:.1f} and {spread_used:.1f}", flush=True)
        processor_ratios.append(spread_used / alone_used)
    same = (alone.affinity_matrix_ != spread.affinity_matrix_).nnz == 0
    print(f"  ratios {', '.join(f'{r:.2f}' for r in ratios)}; same affinity: {same}")
    print(f"  ratios of processor time {', '.join(f'{r:.2f}' for r in processor_ratios)}")
    n_lost = sum(client.run(os.getpid).get(worker) != pid for worker, pid in processes.items())
    print(f"  workers that were replaced: {n_lost}")
    memory = client.run(peak_megabytes)
    print(f"  peak of the workers {max(memory.values()):.0f} MB, client {peak_megabytes():.0f} MB")
    print(f"  work: {spread.work_}, {spread.work_['bytes received'] / n:.0f} bytes per point")
    return alone, spread


def peak_megabytes():
    """Return the largest resident memory of this process so far."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    """Measure all sizes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int, nargs="*", default=[40_000])
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--memory-limit", default=0, help="of each worker, as 700MB")
    parser.add_argument("--keep-freed", action="store_true", help="workers keep freed memory")
    options = parser.parse_args()
    for name in ("OMP", "OPENBLAS", "NUMBA"):
        os.environ[f"{name}_NUM_THREADS"] = str(options.workers)

    import dask
    import numpy as np
    from distributed import Client, LocalCluster

    setting = "distributed.nanny.pre-spawn-environ"
    kept = KEEP_FREED if options.keep_freed else {}
    with (
        dask.config.set({setting: dask.config.get(setting) | kept}),
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(
            n_workers=options.workers,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=options.memory_limit,
        ) as cluster,
        Client(cluster) as client,
    ):
        small = os.path.join(folder, "small.npy")
        write_points(small, 5000, options.features)
        timed_fit(np.load(small))
        timed_fit(from_npy(small))
        for n in options.n:
            path = os.path.join(folder, f"{n}.npy")
            write_points(path, n, options.features)
            print(f"n={n}, {options.features} features, {options.workers} workers", flush=True)
            alone, _ = compare(path, n, client, options.repeats)
            flop = n * n * options.features
            rate = flop / alone.timings_["scan"] / options.workers
            print(f"  scan on one machine: {rate / 1e9:.1f} Gflop/s per thread")


if __name__ == "__main__":
    main()
