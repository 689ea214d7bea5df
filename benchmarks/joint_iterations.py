"""How J-DSSC's graph changes with the iterations of the paper's solver, at the paper's points.

    DSSC_DATA=folder python benchmarks/joint_iterations.py umist_scattered umist orl yaleb

The paper's step sizes are rho = .5 and tau = 1e-4. With a tenth of rho and ten times tau, one
iteration does what ten did: A follows W ten times as fast, and so does C its gradient. So the
numbers of iterations that are shown are ten times those that were made. SPE, NNZ and the mean ACC
and NMI of 20 single runs of plain k-means belong to A, as in the paper's Table 1. In float32, which
changes no digit that is shown.
"""

import argparse
import warnings

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

import dssc
from dssc.joint.linearized_admm import RHO, TAU, LinearizedAdmm
from dssc.joint.model import JointModel
from dssc.paper.loading import load
from dssc.paper.protocol import label_runs
from dssc.paper.published import paper_data

# How much larger a step is than the paper's.
FACTOR = 10
# Runs of k-means.
N_RUNS = 20


def scores(A, y, n_clusters):
    """Return ACC, NMI, SPE and NNZ of an affinity."""
    W = (A + A.T) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # more components than clusters
        U = dssc.spectral_embedding(W, n_clusters, random_state=0)
    runs = label_runs(U, n_clusters, W, N_RUNS)
    return (
        np.mean([dssc.clustering_accuracy(y, labels) for labels in runs]),
        np.mean([normalized_mutual_info_score(y, labels) for labels in runs]),
        dssc.subspace_preserving_error(A, y),
        dssc.nonzeros_per_point(A),
    )


def print_path(name, iterations):
    """Print a row for each number of iterations of one data set."""
    X, y = load(name)
    point = paper_data("methods")["J-DSSC"]["chosen"][name]
    model = JointModel(dssc.unit_norm(X).astype(np.float32), **point)
    state = LinearizedAdmm(model, RHO / FACTOR, TAU * FACTOR)
    done = 0
    for wanted in iterations:
        for _ in range(done, wanted // FACTOR):
            state.step()
        done = wanted // FACTOR
        row = scores(state.A.astype(np.float64), y, len(np.unique(y)))
        print(f"| {name} | {wanted} | " + " | ".join(f"{score:.4g}" for score in row) + " |")


def main():
    """Print one row per data set and number of iterations."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="+", choices=paper_data("methods")["J-DSSC"]["chosen"])
    default = [2000, 4000, 6000, 8000, 10_000, 12_000, 14_000, 16_000]
    parser.add_argument("--iterations", nargs="+", type=int, default=default)
    arguments = parser.parse_args()
    print("| data | iterations | ACC | NMI | SPE | NNZ |")
    print("|---" * 6 + "|", flush=True)
    for name in arguments.data:
        print_path(name, arguments.iterations)


if __name__ == "__main__":
    main()
