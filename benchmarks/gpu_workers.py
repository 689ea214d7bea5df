"""Whether two processes that share a GPU as two workers give the bits of one.

    python benchmarks/gpu_workers.py [n] [--features 500] [--device cuda]

Dask is not needed: processes of the standard library take the place of its workers. They run what
workers run for a part of the search (`find_candidates_on_device`), on vectors that they read from a
file, and this process offers what they find to the lists and projects, as the client does. The last
rows are the CPU engine in this process, and rates for docs/scaling.md.
"""

import argparse
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import partial

import numpy as np

from dssc import make_union_of_subspaces
from dssc.engines.dask.device_parts import find_candidates_on_device
from dssc.expression import LeastSquaresFactor
from dssc.stochastic import FactoredSimilarity, ProjectionProblem, project_to_neighbors
from dssc.stochastic.scan import TILE
from dssc.stochastic.tournament import largest_similarities_by_parts

N_CLUSTERS, N_NEIGHBORS, ETA1 = 20, 12, 10.0
# Parts that wait for each process.
WAITING = 3


class Source:
    """What a process reads from files: vectors, and the weights of each search."""

    folder = device = arrays = None

    @classmethod
    def begin(cls, folder, device):
        """Set where files are; runs once in each process."""
        cls.folder, cls.device, cls.arrays = folder, device, {}

    @classmethod
    def array(cls, name):
        """Return an array by the name of its file."""
        if name not in cls.arrays:
            path = os.path.join(cls.folder, f"{name}.npy")
            cls.arrays[name] = np.load(path, mmap_mode="r")
        return cls.arrays[name]


def find(part, search):
    """Return what a part finds, the process that found it, and its seconds."""
    start = time.perf_counter()
    vectors, weights = Source.array("vectors"), Source.array(f"weights{search}")
    result = find_candidates_on_device(
        part,
        lambda block: vectors[block * TILE : (block + 1) * TILE],
        lambda block: weights[:, :, block * TILE : (block + 1) * TILE],
        Source.device,
    )
    return result, os.getpid(), time.perf_counter() - start


class Processes:
    """Runs parts in processes. Implements `dssc.stochastic.scan_parts.Runner`."""

    def __init__(self, pool, n_processes, search):
        self.pool, self.most, self.search = pool, WAITING * n_processes, search
        self.parts = self.tiles = self.bytes_found = self.bytes_read = 0
        self.seconds = {}

    def __call__(self, next_part):
        """Yield parts with their results, in the order in which they arrive."""
        running = {}
        while True:
            while len(running) < self.most and (part := next_part()):
                running[self.pool.submit(find, part, self.search)] = part
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                part, (result, process, seconds) = running.pop(future), future.result()
                assert result.is_intact
                self.parts += 1
                self.tiles += len(part.meetings)
                self.bytes_found += len(result.content)
                self.bytes_read += len(part.blocks) * TILE
                self.seconds[process] = self.seconds.get(process, 0.0) + seconds
                yield part, result


class Spread:
    """A search by processes that share a device. The factor's vectors are in a file."""

    def __init__(self, factor, n_processes, device):
        self.folder = tempfile.TemporaryDirectory()
        np.save(os.path.join(self.folder.name, "vectors.npy"), factor.vectors)
        self.pool = ProcessPoolExecutor(
            n_processes,
            multiprocessing.get_context("spawn"),
            Source.begin,
            (self.folder.name, device),
        )
        self.n_processes, self.runs, self.seconds = n_processes, [], 0.0

    def __call__(self, vectors, weights, signed, n_kept, progress):
        """Return lists; this is the `search` of a `FactoredSimilarity`."""
        start, number = time.perf_counter(), len(self.runs)
        path = os.path.join(self.folder.name, f"weights{number}.npy")
        np.save(path, np.array([list(weight) for weight in weights]))
        run = Processes(self.pool, self.n_processes, number)
        self.runs.append(run)
        shape = vectors.shape
        lists = largest_similarities_by_parts(shape, weights, signed, n_kept, progress, run)
        self.seconds += time.perf_counter() - start
        return lists

    def started(self, device):
        """Start the processes; return futures of what they are."""
        return [self.pool.submit(warm_up, device) for _ in range(self.n_processes)]

    def close(self):
        """End the processes."""
        self.pool.shutdown()
        self.folder.cleanup()


def affinity(factor, search=None, eta2=None):
    """Return the projection for an eta2, or with twelve neighbours per point, and the seconds."""
    start = time.perf_counter()
    searched = {} if search is None else {"search": search}
    similarity = FactoredSimilarity(factor, True, False, **searched)
    problem = ProjectionProblem(similarity)
    if eta2 is None:
        result = project_to_neighbors(problem, N_NEIGHBORS, tol=1e-8)
    else:
        result = problem.solve(eta2, tol=1e-8)
    return result, time.perf_counter() - start


def spread_affinity(factor, search):
    """Return what `affinity` returns, by processes that have started; print rates."""
    result, seconds = affinity(factor, search)
    d = factor.vectors.shape[1]
    for run in search.runs:
        busy = sum(run.seconds.values())
        print(
            f"  search: {run.parts} parts, {run.tiles} tiles in {busy:.2f} s of "
            f"{len(run.seconds)} process(es), {busy / run.tiles * 1e6:.1f} microseconds per tile, "
            f"{2 * d * TILE**2 * run.tiles / busy / 1e12:.1f} Tflop/s; "
            f"{run.bytes_read * d * 4 / 1e9:.2f} GB read, {run.bytes_found / 1e6:.1f} MB found, "
            f"{run.bytes_found / len(factor.norms):.0f} bytes per point"
        )
    print(f"  search {search.seconds:.2f} s, in all {seconds:.2f} s; {result.status}", flush=True)
    search.close()
    return result


def warm_up(device):
    """Load what a process needs; return its number and the name of its device."""
    from dssc.stochastic.scan_parts import Part

    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((2 * TILE, 500)).astype(np.float32)
    weights = np.ones((1, 4, 2 * TILE), np.float32)
    limits = {block: np.full((1, TILE), np.inf, np.float32) for block in (0, 1)}
    part = Part("warm", np.array([[2, 0, 1]], np.int32), limits, 8, 16, False)
    find_candidates_on_device(
        part,
        lambda block: vectors[block * TILE : (block + 1) * TILE],
        lambda block: weights[:, :, block * TILE : (block + 1) * TILE],
        device,
    )
    import torch

    time.sleep(1.0)  # so that every process gets one of these calls
    return os.getpid(), torch.cuda.get_device_name() if device == "cuda" else "processor"


def same(one, other):
    """Return whether two projections have the same bits, and how far they are apart."""
    pairs = [(getattr(one.plan, name), getattr(other.plan, name)) for name in ("indices", "data")]
    pairs.append((one.potentials[0], other.potentials[0]))
    bits = all(np.array_equal(*pair) for pair in pairs)
    return f"same bits: {bits}, largest difference of A {abs(one.plan - other.plan).max():.1e}"


def main():
    """Fit with one process, with two, and with the processor."""
    parser = argparse.ArgumentParser()
    parser.add_argument("n", type=int, nargs="?", default=100_000)
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--device", default="cuda", help="or torch, to try this without a GPU")
    options = parser.parse_args()
    X, _ = make_union_of_subspaces(
        options.n,
        n_subspaces=N_CLUSTERS,
        dimension=8,
        n_features=options.features,
        noise=0.5,
        random_state=0,
    )
    factor_of = partial(LeastSquaresFactor, X.astype(np.float32), ETA1)
    print(f"{options.n:,} points of {options.features} features, device {options.device}")
    factor = factor_of()
    searches = [Spread(factor, n_processes, options.device) for n_processes in (1, 2)]
    started = [search.started(options.device) for search in searches]  # all at the same time
    for processes in started:
        print(f"processes: {[future.result() for future in processes]}", flush=True)
    one, two = (spread_affinity(factor_of(), search) for search in searches)
    print(f"one process and two: {same(one, two)}", flush=True)
    here, seconds = affinity(factor_of(), eta2=one.eta2)
    print(f"CPU engine at that eta2: {seconds:.2f} s; one process beside it: {same(one, here)}")


if __name__ == "__main__":
    main()
