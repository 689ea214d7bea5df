"""From how many points on a fit without an n x n matrix is faster, for several numbers of features.

    DSSC_DATA=folder python benchmarks/matrix_free.py [data set ...]

Some points of data sets of `selection_data.py`; `name:200` means the first 200 features. For each
number of points, with an eta1 between subspaces and directions and with an infinite one: processor
seconds from the points to the affinity, the smaller of two runs each, with and without the matrix.
"""

import sys
import time

import numpy as np
from selection_data import load

import dssc.engines.cpu.engine as cpu_engine
from dssc._progress import Progress
from dssc.pipeline import Settings, affinity_graph, express

SIZES = (1000, 1500, 2000, 3000, 4000, 6000)
SETS = ("segment", "satellite", "mnist, 10000:200", "mnist, 10000", "cifar10_efficientnet")


def processor_seconds(X, eta1, matrix_free_from):
    """Return the processor time of a graph of 12 neighbours, if matrices end at some size."""
    cpu_engine.MATRIX_FREE_FROM = matrix_free_from
    settings, quiet = Settings(eta1=eta1, n_neighbors=12, signed=True), Progress()
    seconds = []
    for _ in range(2):
        start = time.process_time()
        expression = express(X, settings, cpu_engine.CpuEngine(), quiet)
        affinity_graph(expression, None, settings, quiet)
        seconds.append(time.process_time() - start)
    return min(seconds)


def main(names):
    """Print a row of a Markdown table for every data set, number of points and eta1."""
    print("| data | features | n | eta1 | with matrix s | without s | ratio |\n" + "|---" * 7 + "|")
    for name in names or SETS:
        name, _, n_features = name.partition(":")
        X = load(name)[0]
        X = X[:, : int(n_features or X.shape[1])]
        for n in (size for size in SIZES if X.shape[1] < size <= len(X)):
            drawn = X[np.random.default_rng(0).choice(len(X), n, replace=False)]
            for eta1 in (1e-3 * n, np.inf):
                dense, free = (processor_seconds(drawn, eta1, end) for end in (n + 1, n))
                print(
                    f"| {name} | {X.shape[1]} | {n:,} | {eta1:.3g} | {dense:.2f} | {free:.2f} "
                    f"| {dense / free:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
