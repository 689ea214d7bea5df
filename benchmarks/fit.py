"""A-DSSC on the paper's data sets with the paper's parameters: quality, seconds, peak memory.

    DSSC_DATA=folder python benchmarks/fit.py [name ...]

Each fit runs in a fresh process, so that peak memory is its own; kernels are compiled before it.
"""

import json
import resource
import subprocess
import sys
import time
from functools import partial

# eta1, eta2, and the paper's ACC, NMI, SPE, NNZ of A-DSSC (its Table 1 and parameter table).
PAPER = {
    "yaleb": (0.5, 0.1, (0.917, 0.947, 0.080, 14.4)),
    "orl": (1.0, 0.05, (0.790, 0.910, 0.159, 9.8)),
    "umist": (0.5, 0.05, (0.725, 0.851, 0.034, 4.8)),
    "umist_scattered": (0.5, 0.01, (0.888, 0.935, 0.018, 5.4)),
    "coil40": (25.0, 0.001, (0.922, 0.967, 0.008, 5.2)),
    "coil100": (50.0, 0.0005, (0.824, 0.946, 0.037, 5.8)),
}
N_RUNS = 100


def load(name):
    """Return X and y of a data set."""
    import dssc

    loaders = {
        "yaleb": dssc.fetch_yaleb,
        "orl": dssc.fetch_orl,
        "umist": dssc.fetch_umist,
        "umist_scattered": partial(dssc.fetch_umist, scattered=True),
        "coil40": partial(dssc.fetch_coil, n_objects=40),
        "coil100": dssc.fetch_coil,
    }
    return loaders[name](return_X_y=True)


def peak_megabytes():
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name):
    """Fit once, then label the embedding N_RUNS times."""
    import numpy as np
    from sklearn.metrics import normalized_mutual_info_score

    import dssc

    dssc.ADSSC(3, n_neighbors=20).fit(dssc.make_union_of_subspaces(random_state=0)[0])
    X, y = load(name)
    before = peak_megabytes()
    eta1, eta2, _ = PAPER[name]
    k = len(np.unique(y))
    start = time.perf_counter()
    model = dssc.ADSSC(k, eta1=eta1, eta2=eta2, n_components=k, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    peak = peak_megabytes()
    runs = [
        dssc.assign_labels(model.embedding_, k, n_init=1, random_state=run) for run in range(N_RUNS)
    ]
    return {
        "n": len(X),
        "ACC": np.mean([dssc.clustering_accuracy(y, labels) for labels in runs]),
        "NMI": np.mean([normalized_mutual_info_score(y, labels) for labels in runs]),
        "SPE": dssc.subspace_preserving_error(model.affinity_matrix_, y),
        "NNZ": dssc.nonzeros_per_point(model.affinity_matrix_),
        "one fit": dssc.clustering_accuracy(y, model.labels_),
        "seconds": seconds,
        "before": before,
        "peak": peak,
        "status": model.projection_.status,
    }


def main(names):
    """Print one row of a Markdown table for each data set."""
    print(
        "| data | n | ACC (paper) | NMI (paper) | SPE (paper) | NNZ (paper) | seconds | peak MB |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in names or PAPER:
        command = [sys.executable, __file__, "--measure", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout)
        acc, nmi, spe, nnz = PAPER[name][2]
        print(
            f"| {name} | {row['n']:,} "
            f"| {row['ACC']:.3f} ({acc:.3f}) | {row['NMI']:.3f} ({nmi:.3f}) "
            f"| {row['SPE']:.3f} ({spe:.3f}) | {row['NNZ']:.1f} ({nnz}) | {row['seconds']:.2f} "
            f"| {row['peak']:.0f} ({row['before']:.0f} before) |",
            flush=True,
        )
        print(f"{name}: {row['status']}", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2])))
    else:
        main(sys.argv[1:])
