"""Parameters without labels: how close the defaults of A-DSSC come to the best of a grid.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [name ...]
    python benchmarks/selection.py --keep FOLDER --table

The first command fits every point of the grid (the candidates that `ADSSC` chooses among, with as
many eigenvectors as clusters and with the default, fading ones), then `ADSSC(k)` itself, and keeps
labels and accuracies in the folder, a file a data set. The second one prints the tables, and judges
variants of the rule leave-one-out: for each data set the variant that is best on all others.
"""

import sys
import time
import warnings
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

SYNTHETIC = {
    "few, noisy": {"n_samples": 400, "n_subspaces": 2, "dimension": 6, "noise": 0.4},
    "noisy": {"n_samples": 600, "n_subspaces": 6, "dimension": 4, "n_features": 30, "noise": 0.5},
    "dependent": {"n_samples": 1000, "n_subspaces": 10, "dimension": 5, "n_features": 15},
    "many": {"n_samples": 1200, "n_subspaces": 30, "n_features": 60, "noise": 0.3},
}
UNEVEN = (400, 200, 100, 50, 30)
PAPER = ("yaleb", "orl", "umist", "umist, scattered", "coil40", "coil40, scattered", "coil100",
         "coil100, scattered", "mnist, 5000", "mnist, 10000")  # fmt: skip
OTHERS = ("emnist, 5000", "digits", "digits, scattered", "orl, scattered", "yaleb, scattered",
          "uneven", *SYNTHETIC)  # fmt: skip
OLD_DEFAULT = (1.0, 12)


def load(name):
    """Return X and y of a data set."""
    import dssc

    if name in SYNTHETIC:
        return dssc.make_union_of_subspaces(random_state=1, **SYNTHETIC[name])
    if name == "uneven":
        options = {"n_subspaces": 5, "dimension": 4, "n_features": 30, "noise": 0.3}
        X, y = dssc.make_union_of_subspaces(2000, random_state=2, **options)
        kept = [np.flatnonzero(y == c)[:size] for c, size in enumerate(UNEVEN)]
        return X[np.concatenate(kept)], y[np.concatenate(kept)]
    if name == "umist, scattered":
        return dssc.fetch_umist(scattered=True, return_X_y=True)
    if name == "digits":
        from sklearn.datasets import load_digits

        return load_digits(return_X_y=True)
    return _images(name)


def _images(name):
    import dssc

    base, _, kind = name.partition(", ")
    if base == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return dssc.scattered_features((255 / 16 * digits.images).astype(np.uint8)), digits.target
    fetch = {
        "yaleb": dssc.fetch_yaleb, "orl": dssc.fetch_orl, "umist": dssc.fetch_umist,
        "coil40": partial(dssc.fetch_coil, n_objects=40), "coil100": dssc.fetch_coil,
        "mnist": dssc.fetch_mnist, "emnist": dssc.fetch_emnist_letters,
    }[base]  # fmt: skip
    if not kind:
        return fetch(return_X_y=True)
    data = fetch()
    X = dssc.scattered_features(data.images, min(500, len(data.images)))
    if kind == "scattered":
        return X, data.target
    rows = np.random.default_rng(0).choice(len(X), int(kind), replace=False)
    return X[rows], data.target[rows]


def study(name):
    """Return what is known of one data set, as arrays."""
    from dssc import ADSSC, clustering_accuracy, estimate_n_clusters
    from dssc.estimators.choosing import DIMENSION, ETA1, N_NEIGHBORS, mean_residual
    from dssc.graph import count_components

    X, y = load(name)
    k = len(np.unique(y))
    cells, plain, faded, labels, residuals, pieces, numbers = [], [], [], [], [], [], []
    model = ADSSC(k, warm_start=True, random_state=0)
    for eta1, n_neighbors in product(ETA1, N_NEIGHBORS):
        model.set_params(eta1=eta1, n_neighbors=n_neighbors, n_components=k).fit(X)
        plain.append(clustering_accuracy(y, model.labels_))
        model.set_params(n_components=None).fit(X)
        faded.append(clustering_accuracy(y, model.labels_))
        cells.append((eta1, n_neighbors))
        labels.append(model.labels_)
        residuals.append(mean_residual(X, model.labels_, k, DIMENSION))
        pieces.append(count_components(model.affinity_matrix_))
        if (eta1, n_neighbors) == OLD_DEFAULT:
            numbers = estimate_n_clusters(model.affinity_matrix_)[:2]
    start = time.perf_counter()
    model = ADSSC(k, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    best = model.candidates_[0]
    return {
        "k": k, "n": len(X), "cells": cells, "plain": plain, "faded": faded, "labels": labels,
        "residuals": residuals, "pieces": pieces, "estimate": numbers,
        "rule": clustering_accuracy(y, model.labels_), "chosen": (best.eta1, best.n_neighbors),
        "seconds": (model.timings_["choice"], seconds),
    }  # fmt: skip


def variants():
    """Return rules to compare: which candidates, and by what."""
    from dssc.estimators.choosing import ETA1, N_NEIGHBORS

    return list(
        product(
            ((1, 1), (1, 0), (0, 1)),  # whether agreement and residual count
            (ETA1, (1.0, 10.0)),
            (N_NEIGHBORS, (6, 8, 12)),
        )
    )


def picked(data, variant):
    """Return the accuracy at the cell that a variant of the rule picks."""
    from dssc.estimators.choosing import Candidate, mean_agreements, ranked

    (by_agreement, by_residual), eta1s, counts = variant
    kept = [i for i, (eta1, q) in enumerate(data["cells"]) if eta1 in eta1s and q in counts]
    agreements = mean_agreements([data["labels"][i] for i in kept])
    candidates = [
        Candidate(i, None, by_agreement * a, by_residual * data["residuals"][i], data["pieces"][i])
        for i, a in zip(kept, agreements, strict=True)
    ]
    return data["faded"][int(ranked(candidates, data["k"])[0].eta1)]


def table(folder):
    """Print what was kept, and the leave-one-out judgement."""
    kept = {}
    for name in (*PAPER, *OTHERS):
        path = folder / f"{name}.npy"
        if path.exists():
            kept[name] = np.load(path, allow_pickle=True).item()
    rules = variants()
    ratios = np.array(
        [[picked(data, rule) / _best(data) for rule in rules] for data in kept.values()]
    )
    print("| data | (1, 12) | best, k eigenvectors | best, fading | the rule | chosen | ratio "
          "| left out | seconds (choice) | k | k estimated (evidence) |")  # fmt: skip
    print("|---" * 11 + "|")
    left_out = {}
    for row, (name, data) in enumerate(kept.items()):
        others = np.delete(ratios, row, axis=0).mean(axis=0)
        left_out[name] = ratios[row, others.argmax()]
        old = data["plain"][data["cells"].index(OLD_DEFAULT)]
        chosen = "({:g}, {})".format(*data["chosen"])
        choice, seconds = data["seconds"]
        print(
            f"| {name} | {old:.3f} | {max(data['plain']):.3f} | {max(data['faded']):.3f} "
            f"| {data['rule']:.3f} | {chosen} | {data['rule'] / _best(data):.3f} "
            f"| {left_out[name]:.3f} | {seconds:.1f} ({choice:.1f}) "
            f"| {data['k']} | {data['estimate'][0]} ({data['estimate'][1]:.2f}) |"
        )
    for title, names in (("the paper's", PAPER), ("all", (*PAPER, *OTHERS))):
        some = [data["rule"] / _best(data) for name, data in kept.items() if name in names]
        plain = [data["rule"] / max(data["plain"]) for name, data in kept.items() if name in names]
        out = [ratio for name, ratio in left_out.items() if name in names]
        print(f"\n{title}: mean ratio {np.mean(some):.3f}, worst {min(some):.3f}; left out "
              f"{np.mean(out):.3f}, worst {min(out):.3f}; to the best with k eigenvectors "
              f"{np.mean(plain):.3f}, worst {min(plain):.3f}")  # fmt: skip


def _best(data):
    return max(*data["plain"], *data["faded"])


def main(arguments):
    """Study the data sets named, or print the tables."""
    folder = Path(arguments.pop(arguments.index("--keep") + 1))
    arguments.remove("--keep")
    if arguments == ["--table"]:
        return table(folder)
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for name in arguments or (*PAPER, *OTHERS):
        start = time.perf_counter()
        np.save(folder / f"{name}.npy", study(name), allow_pickle=True)
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
