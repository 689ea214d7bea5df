"""Time of `ADSSC.separation` as a share of the fit, on scattered MNIST.

    DSSC_DATA=folder python benchmarks/separation_cost.py [n ...] [--features=FILE]

FILE is an array of scattered MNIST saved by NumPy, which takes longer to compute than a fit. Both
the parameters of the paper, as in `scale.py`, and the default ones are fitted. "near pairs" is the
part of the fit that keeps what the separation needs. A range of eta2 is proved with four
projections. Kernels are compiled before.
"""

import sys
import time

import numpy as np
from scale import N_MNIST, load

import dssc

SIZES = (20_000, 70_000)


def seconds_of(function):
    """Return what a function returns, and its seconds."""
    start = time.perf_counter()
    result = function()
    return result, time.perf_counter() - start


def row(X, name, parameters):
    """Return a line of the table."""
    model = dssc.ADSSC(10, random_state=0, **parameters)
    _, fit = seconds_of(lambda: model.fit(X))
    separation, proof = seconds_of(model.separation)
    found, walk = seconds_of(lambda: model.separation_range(max_projections=4))
    near = model.timings_["near pairs"]
    n_pairs = f"{separation.n_proved} of {separation.n_pairs}"
    return (
        f"| {len(X):,} | {name} | {fit:.2f} | {near:.2f} | {proof:.2f} "
        f"| {(near + proof) / fit:.1%} | {n_pairs} | {walk:.2f} ({found.n_projections}) |"
    )


def main(sizes, file):
    """Print a table."""
    X = np.load(file) if file else load(max(sizes))[0]
    warm = dssc.make_union_of_subspaces(5000, n_features=500, random_state=0)[0].astype("float32")
    dssc.ADSSC(3, eta2=0.01, random_state=0).fit(warm).separation_range(max_projections=2)
    print("| n | parameters | fit s | near pairs s | separation s | share | proved | range s |")
    print("|---|---|---|---|---|---|---|---|")
    for n in sizes:
        paper = {"eta1": 10.0 * n / N_MNIST, "eta2": 0.001 * N_MNIST / n, "n_components": 11}
        print(row(X[:n], "paper's", paper), flush=True)
        print(row(X[:n], "default", {}), flush=True)


if __name__ == "__main__":
    chosen = [int(a.replace("_", "")) for a in sys.argv[1:] if not a.startswith("--")]
    files = [a.split("=", 1)[1] for a in sys.argv[1:] if a.startswith("--features=")]
    main(chosen or SIZES, files[0] if files else None)
