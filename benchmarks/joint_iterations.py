"""How J-DSSC's graph changes with the iterations of the paper's solver.

    DSSC_DATA=folder python benchmarks/joint_iterations.py umist_scattered umist orl yaleb

At the paper's points, or over its grid (`--grid`). The paper's step sizes are rho = .5 and
tau = 1e-4. With a tenth of rho and ten times tau, one iteration does what ten did: A follows W ten
times as fast, and so does C its gradient. So the numbers of iterations that are shown are ten times
those that were made. SPE, NNZ and the mean ACC and NMI of 20 single runs of plain k-means belong to
A, as in the paper's Table 1. In float32, which changes no digit that is shown.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context

import numpy as np
from scipy import ndimage, sparse
from sklearn.metrics import normalized_mutual_info_score
from threadpoolctl import threadpool_limits

import dssc
from dssc._devices import as_array
from dssc.joint.linearized_admm import RHO, TAU, LinearizedAdmm
from dssc.joint.model import JointModel
from dssc.paper.loading import fetch, load
from dssc.paper.protocol import label_runs
from dssc.paper.published import paper_data

# How much larger a step is than the paper's.
FACTOR = 10
# Runs of k-means.
N_RUNS = 20


def scores(A, y, n_runs):
    """Return ACC, NMI, SPE and NNZ of an affinity."""
    n_clusters = len(np.unique(y))
    W = (A + A.T) / 2
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # more components than clusters
        U = dssc.spectral_embedding(W, n_clusters, random_state=0)
        runs = label_runs(U, n_clusters, W, n_runs)
    return (
        np.mean([dssc.clustering_accuracy(y, labels) for labels in runs]),
        np.mean([normalized_mutual_info_score(y, labels) for labels in runs]),
        dssc.subspace_preserving_error(A, y),
        dssc.nonzeros_per_point(A),
    )


def features(name, blur, device):
    """Return the samples of a data set, of images that are blurred first if asked for."""
    if not blur:
        return load(name, device)
    images = fetch(name).images.astype(np.float32)
    sides = (blur, blur) + (0,) * (images.ndim - 3)
    blurred = ndimage.gaussian_filter(images, (0, *sides))
    return as_array(dssc.scattered_features(blurred, device=device)), fetch(name).target


def joint_model(X, point, device):
    """Return the model of float32 samples on a device."""
    X = dssc.unit_norm(X).astype(np.float32)
    if device == "cpu":
        return JointModel(X, **point)
    import torch

    from dssc.engines.torch.joint.operations import TorchOperations

    where = torch.device("cpu" if device == "torch" else device)
    return JointModel(torch.as_tensor(X).to(where), **point, operations=TorchOperations(where))


def path(model, iterations, factor):
    """Yield A after each number of iterations."""
    state, done = LinearizedAdmm(model, RHO / factor, TAU * factor), 0
    for wanted in iterations:
        for _ in range(done, wanted // factor):
            state.step()
        done = wanted // factor
        yield wanted, sparse.csr_array(as_array(state.A)).astype(np.float64)


def points(name, whole_grid):
    """Return the paper's point of a data set, or its grid."""
    if not whole_grid:
        return [paper_data("methods")["J-DSSC"]["chosen"][name]]
    grid = paper_data("methods")["J-DSSC-grid"]["grid"]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]


def main():
    """Print one row per data set, point and number of iterations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="+", choices=paper_data("methods")["J-DSSC"]["chosen"])
    default = [2000, 4000, 6000, 8000, 10_000, 12_000, 14_000, 16_000]
    parser.add_argument("--iterations", nargs="+", type=int, default=default)
    parser.add_argument("--grid", action="store_true", help="all points of the paper's grid")
    parser.add_argument("--blur", type=float, default=0.0, help="pixels to blur the images by")
    parser.add_argument("--factor", type=int, default=FACTOR, help="1 takes the paper's steps")
    parser.add_argument("--runs", type=int, default=N_RUNS, help="runs of k-means")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1, help="for the runs of k-means")
    arguments = parser.parse_args()
    print("| data | eta1, eta2, eta3 | iterations | ACC | NMI | SPE | NNZ |")
    print("|---" * 7 + "|", flush=True)
    with ProcessPoolExecutor(arguments.processes, get_context("spawn")) as pool:
        waiting = []
        for name in arguments.data:
            X, y = features(name, arguments.blur, arguments.device)
            for point in points(name, arguments.grid):
                model = joint_model(X, point, arguments.device)
                for wanted, A in path(model, arguments.iterations, arguments.factor):
                    row = f"| {name} | {list(point.values())} | {wanted} | "
                    waiting.append((row, pool.submit(scores, A, y, arguments.runs)))
                while waiting and waiting[0][1].done():
                    print_row(*waiting.pop(0))
        for row, numbers in waiting:
            print_row(row, numbers)


def print_row(row, numbers):
    """Print a row of the table once its numbers are known."""
    print(row + " | ".join(f"{score:.4g}" for score in numbers.result()) + " |", flush=True)


if __name__ == "__main__":
    main()
