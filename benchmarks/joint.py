"""Objective of the joint model against time: the default solver beside the paper's algorithm.

    DSSC_DATA=folder python benchmarks/joint.py [name ...] [--iterations 2000] [--device cuda]

Both run in this process, one after the other, on the same data, dtype and device. The paper's
iterates are judged by the model at their C and W with A := the projection of W, which flatters
them: A itself is not yet doubly stochastic.
"""

import argparse
from functools import partial

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import dssc
from dssc._devices import torch_device
from dssc.joint import solve_joint

# The paper's eta1, eta2, eta3 and its ACC, NMI, SPE, NNZ of J-DSSC.
PAPER = {
    "orl": ((1.0, 0.1, 0.1), (0.785, 0.906, 0.176, 10.8)),
    "umist": ((1.0, 0.05, 0.0), (0.732, 0.858, 0.036, 5.1)),
    "umist_scattered": ((0.01, 0.2, 0.0), (0.873, 0.939, 0.020, 7.2)),
    "yaleb": ((0.25, 0.2, 0.0), (0.924, 0.952, 0.080, 14.5)),
    "coil40": ((25.0, 0.01, 0.1), (0.899, 0.963, 0.012, 8.9)),
    "coil100": ((25.0, 0.01, 0.1), (0.796, 0.943, 0.049, 9.9)),
    "coil40_scattered": ((0.25, 0.2, 0.0), (1.0, 1.0, 0.00006, 13.8)),
}
N_RUNS = 100


def load(name):
    """Return X with unit rows, in float64, and y."""
    if name == "coil40_scattered":
        objects = dssc.fetch_coil(n_objects=40)
        return dssc.scattered_features(objects.images).astype(np.float64), objects.target
    loaders = {
        "orl": dssc.fetch_orl,
        "umist": dssc.fetch_umist,
        "umist_scattered": partial(dssc.fetch_umist, scattered=True),
        "yaleb": dssc.fetch_yaleb,
        "coil40": partial(dssc.fetch_coil, n_objects=40),
        "coil100": dssc.fetch_coil,
    }
    X, y = loaders[name](return_X_y=True)
    return np.ascontiguousarray(dssc.unit_norm(X), dtype=np.float64), y


def quality(A, y):
    """Return ACC and NMI, the means of N_RUNS single k-means runs, SPE and NNZ."""
    k = len(np.unique(y))
    U = dssc.spectral_embedding(A, k, random_state=0)
    runs = [dssc.assign_labels(U, k, n_init=1, random_state=run) for run in range(N_RUNS)]
    acc = np.mean([dssc.clustering_accuracy(y, labels) for labels in runs])
    nmi = np.mean([normalized_mutual_info_score(y, labels) for labels in runs])
    spe, nnz = dssc.subspace_preserving_error(A, y), dssc.nonzeros_per_point(A)
    return f"{acc:.3f} {nmi:.3f} {spe:.3f} {nnz:.1f}"


def solver_on(device):
    """Return the function that solves the model on a device."""
    device = torch_device(device, None)
    if device is None:
        return solve_joint
    from dssc.engines.torch.joint import solve_joint_on_device

    return partial(solve_joint_on_device, device=device)


def compare(name, n_iterations, solve):
    """Print both solvers' records and what it takes the default to match the paper's last one."""
    X, y = load(name)
    parameters, paper = PAPER[name]
    ours = solve(X, *parameters)
    theirs = solve(X, *parameters, solver="linearized-admm", tol=1e-12, max_iter=n_iterations)
    print(f"## {name}, n = {len(X)}, (eta1, eta2, eta3) = {parameters}")
    for solver, result in (("default", ours), ("linearized-admm", theirs)):
        for seconds, value in zip(result.seconds, result.history, strict=True):
            print(f"{solver:16s} {seconds:9.2f} s  objective {value:.6f}")
        print(f"{solver:16s} {result.status}; ACC NMI SPE NNZ {quality(result.plan, y)}")
    print(f"paper            ACC NMI SPE NNZ {' '.join(map(str, paper))}")
    reached = ours.seconds[ours.history <= theirs.history[-1]]
    if len(reached):
        ratio = theirs.seconds[-1] / reached[0]
        print(f"the paper's last objective: {reached[0]:.2f} s, {ratio:.0f} times faster")
    print(flush=True)


def main():
    """Compare on the data sets named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(PAPER))
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    solve = solver_on(options.device)
    # Compile before anything is timed.
    tiny = dssc.unit_norm(dssc.make_union_of_subspaces(40, random_state=0)[0])
    solve(tiny, 1.0, 0.5, 0.0)
    solve(tiny, 1.0, 0.5, 0.0, solver="linearized-admm", max_iter=2)
    for name in options.names:
        compare(name, options.iterations, solve)


if __name__ == "__main__":
    main()
