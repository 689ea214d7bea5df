"""Parameters without labels: how close the defaults of A-DSSC come to the best of a grid.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --fit [name ...]
    python benchmarks/selection.py --keep FOLDER --table

The first command fits every point of a grid, with as many eigenvectors as clusters and with the
default, fading ones, and keeps accuracies, labels and what rules judge them by, a file for each
eta1 as soon as it is done: started again, it goes on where it stopped. The second fits `ADSSC(k)`
and `ADSSC(None)`. The third prints the tables, and judges variants of the rule leave-one-out: for
each data set the variant that is best on all other images.
"""

import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from selection_data import FRESH, HELD_OUT, OTHERS, PAPER, SUBSETS, load
from selection_table import ETA1, N_NEIGHBORS, STARTS, print_tables


def study(name, folder):
    """Fit the points of the grid that the folder does not hold yet."""
    paths = {eta1: folder / f"{eta1:g}.npz" for eta1 in ETA1}
    if all(path.exists() for path in paths.values()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load(name)
    for eta1, path in paths.items():
        if not path.exists():
            start = time.perf_counter()
            found = study_eta1(X, y, eta1)
            write(path, **found)
            print(f"{name} ({eta1:g}): {found['plain'].max():.3f} {found['accuracy'].max():.3f}, "
                  f"{time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip


def study_eta1(X, y, eta1):
    """Return all that is kept of one eta1: for every number of neighbours, and for every start."""
    from sklearn.utils import check_random_state

    from dssc import clustering_accuracy
    from dssc._progress import Progress
    from dssc.engines import CpuEngine
    from dssc.graph import count_components
    from dssc.pipeline import Settings, affinity_graph, assign, embed, express
    from dssc.selection.criteria import pairwise_agreements, subspace_residuals
    from dssc.spectral.modularity import modularity

    k, engine, quiet = len(np.unique(y)), CpuEngine(), Progress()
    settings = Settings(eta1=eta1, fading=True)
    expression = express(X, settings, engine, quiet)
    plain, faded, graphs, labels = [], [], [], []
    for n_neighbors in N_NEIGHBORS:
        settings = replace(settings, n_neighbors=n_neighbors)
        graph = affinity_graph(expression, k, settings, quiet)
        for fading, accuracies in ((False, plain), (True, faded)):
            rng = check_random_state(0)
            embedding = embed(graph, k, replace(settings, fading=fading), engine, rng, quiet)
            assigned = assign(graph, embedding, k, settings, engine, rng, quiet)
            accuracies.append(clustering_accuracy(y, assigned))
        graphs.append(graph.affinity)
        one_start = replace(settings, n_init=1)
        labels += [
            assign(graph, embedding, k, one_start, engine, check_random_state(seed), quiet)
            for seed in range(STARTS)
        ]
    distinct, which = np.unique(labels, axis=0, return_inverse=True)
    pairs = pairwise_agreements(list(distinct), k) + np.eye(len(distinct))
    return {
        "k": k, "n": len(y), "y": np.unique(y, return_inverse=True)[1].astype(np.uint8),
        "plain": np.array(plain), "accuracy": np.array(faded),
        "labels": distinct.astype(np.uint8), "which": which.ravel(), "agreements": pairs,
        "pieces": np.array([count_components(graph) for graph in graphs]),
        "accuracies": [clustering_accuracy(y, one) for one in distinct],
        "residuals": subspace_residuals(X, list(distinct), k),
        "modularities": [[modularity(graph, one) for graph in graphs] for one in distinct],
    }  # fmt: skip


def write(path, **arrays):
    """Write a file that is either whole or not there."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    part.rename(path)


def fit_defaults(name, folder):
    """Fit without any parameter but the number of clusters, and without that."""
    from dssc import ADSSC, clustering_accuracy

    folder.mkdir(parents=True, exist_ok=True)
    X, y = load(name)
    k = len(np.unique(y))
    model, seconds = timed(ADSSC(k, random_state=0), X)
    best = model.candidates_[0]
    given = ADSSC(k, eta1=best.eta1, n_neighbors=best.n_neighbors, random_state=0)
    given, seconds_given = timed(given, X)
    counted, seconds_counted = timed(ADSSC(None, random_state=0), X)
    found = {
        "rule": clustering_accuracy(y, model.labels_), "chosen": (best.eta1, best.n_neighbors),
        "given": clustering_accuracy(y, given.labels_), "seconds": (seconds, seconds_given),
        "estimate": (counted.n_clusters_, counted.cluster_evidence_, seconds_counted),
    }  # fmt: skip
    (folder / "fit.json").write_text(json.dumps(found))
    print(f"{name}: {found}", flush=True)


def timed(model, X):
    """Return a fitted model and the seconds it took."""
    start = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - start


def main(arguments):
    """Study the data sets named, or print the tables."""
    folder = Path(arguments.pop(arguments.index("--keep") + 1))
    arguments.remove("--keep")
    if arguments == ["--table"]:
        return print_tables(folder)
    warnings.simplefilter("ignore")
    work = fit_defaults if "--fit" in arguments else study
    names = [name for name in arguments if name != "--fit"]
    for name in names or (*OTHERS, *SUBSETS, *HELD_OUT, *FRESH, *PAPER):
        work(name, folder / name)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
