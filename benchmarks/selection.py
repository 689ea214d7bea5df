"""Parameters without labels: how close the defaults of A-DSSC come to the best of a grid.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --fit [name ...]
    python benchmarks/selection.py --keep FOLDER --table

The first command fits every point of the grid (the candidates that `ADSSC` chooses among, with as
many eigenvectors as clusters and with the default, fading ones) and keeps labels, affinity and
accuracies, a file a candidate as soon as it is done: started again, it goes on where it stopped.
The second fits `ADSSC(k)` itself. The third prints the tables, and judges variants of the rule
leave-one-out: for each data set the variant that is best on all others.
"""

import json
import sys
import time
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np
from scipy import sparse

# Fixed here, so that what is kept stays valid when the rule changes.
ETA1, N_NEIGHBORS = (0.1, 1.0, 10.0, 100.0), (4, 6, 8, 12)
OLD_DEFAULT = (1.0, 12)
N_VALUES = 60  # squared singular values kept of every cluster

SYNTHETIC = {
    "few, noisy": {"n_samples": 400, "n_subspaces": 2, "dimension": 6, "noise": 0.4},
    "noisy": {"n_samples": 600, "n_subspaces": 6, "dimension": 4, "n_features": 30, "noise": 0.5},
    "dependent": {"n_samples": 1000, "n_subspaces": 10, "dimension": 5, "n_features": 15},
    "many": {"n_samples": 1200, "n_subspaces": 30, "n_features": 60, "noise": 0.3},
    "crowded": {"n_samples": 800, "n_subspaces": 16, "dimension": 4, "n_features": 16,
                "noise": 0.3},
    "noisier": {"n_samples": 600, "n_subspaces": 6, "dimension": 4, "n_features": 30, "noise": 1.0},
    "large dimension": {"n_samples": 900, "n_subspaces": 6, "dimension": 12, "n_features": 40,
                        "noise": 0.5},
    "short": {"n_samples": 300, "n_subspaces": 20, "dimension": 3, "n_features": 30, "noise": 0.5},
}  # fmt: skip
UNEVEN = (400, 200, 100, 50, 30)
# A name ends in the classes that are taken, as a slice, where not all are.
PAPER = ("orl", "umist", "umist, scattered", "yaleb", "yaleb, scattered", "coil40",
         "coil40, scattered", "mnist, 5000", "emnist, 10000", "mnist, 10000", "coil100, scattered",
         "coil100")  # fmt: skip
OTHERS = ("digits", "digits, scattered", "orl, scattered", "uneven", "few, noisy", "noisy",
          "dependent", "many")  # fmt: skip
SUBSETS = (
    "orl [1::2]", "orl, scattered [20:]", "umist [10:]", "umist, scattered [1::2]",
    "yaleb [20:30]", "yaleb [1::2]", "yaleb, scattered [10:20]", "yaleb, scattered [1::2]",
    "coil100 [:20]", "coil100 [20:40]", "coil100, scattered [:20]", "coil100, scattered [80:]",
    "mnist, 3000 [3:8]", "emnist, 4000 [3:9]", "digits [:6]", "digits, scattered [4:]",
)  # fmt: skip
# The rule was settled before these were looked at.
HELD_OUT = (
    "wine", "breast cancer", "crowded", "noisier", "large dimension", "short",
    "orl [::2]", "orl, scattered [:20]", "umist [:10]", "umist, scattered [::2]",
    "yaleb [:10]", "yaleb [10:20]", "yaleb, scattered [:10]", "yaleb, scattered [20:30]",
    "coil100 [40:60]", "coil100 [60:80]", "coil100 [80:]", "coil100, scattered [40:60]",
    "coil100, scattered [60:80]", "mnist, 2000 [:5]", "mnist, 3000 [5:]", "emnist, 4000 [:6]",
    "emnist, 4000 [6:]", "deformed", "yaleb [::2]", "yaleb, scattered [::2]",
)  # fmt: skip


def load(name):
    """Return X and y of a data set, or of some of its classes."""
    whole, _, classes = name.rstrip("]").partition(" [")
    X, y = _load(whole)
    if classes:
        some = np.unique(y)[slice(*(int(end) if end else None for end in classes.split(":")))]
        X, y = X[np.isin(y, some)], y[np.isin(y, some)]
    return X, y


@cache
def _load(name):
    import dssc

    if name in SYNTHETIC:
        return dssc.make_union_of_subspaces(random_state=1, **SYNTHETIC[name])
    if name == "uneven":
        options = {"n_subspaces": 5, "dimension": 4, "n_features": 30, "noise": 0.3}
        X, y = dssc.make_union_of_subspaces(2000, random_state=2, **options)
        kept = [np.flatnonzero(y == c)[:size] for c, size in enumerate(UNEVEN)]
        return X[np.concatenate(kept)], y[np.concatenate(kept)]
    if name == "deformed":
        images, y = dssc.make_deformed_digits(3000, random_state=0)
        return dssc.scattered_features(images), y
    if name in ("wine", "breast cancer", "digits"):
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
        return (X if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0)), y
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
    if not kind or name == "umist, scattered":
        return fetch(return_X_y=True, **({"scattered": True} if kind else {}))
    data = fetch()
    X = dssc.scattered_features(data.images, min(500, len(data.images)))
    if kind == "scattered":
        return X, data.target
    rows = np.random.default_rng(0).choice(len(X), int(kind), replace=False)
    return X[rows], data.target[rows]


def study(name, folder):
    """Fit the points of the grid that the folder does not hold yet."""
    from dssc import ADSSC, clustering_accuracy

    folder.mkdir(parents=True, exist_ok=True)
    cells = {cell: folder / "{:g}_{}.npz".format(*cell) for cell in product(ETA1, N_NEIGHBORS)}
    if all(path.exists() for path in cells.values()):
        return
    X, y = load(name)
    k = len(np.unique(y))
    model = ADSSC(k, warm_start=True, random_state=0)
    for (eta1, n_neighbors), path in cells.items():
        if path.exists():
            continue
        start = time.perf_counter()
        model.set_params(eta1=eta1, n_neighbors=n_neighbors, n_components=k).fit(X)
        plain = clustering_accuracy(y, model.labels_)
        model.set_params(n_components=None).fit(X)
        accuracy = clustering_accuracy(y, model.labels_)
        A = model.affinity_matrix_
        kept = {
            "y": y, "labels": model.labels_, "plain": plain, "accuracy": accuracy,
            "eta2": model.eta2_, "data": A.data, "indices": A.indices, "indptr": A.indptr,
            "spectra": spectra(X, model.labels_, k),
        }  # fmt: skip
        part = path.with_suffix(".part")
        with part.open("wb") as file:
            np.savez_compressed(file, **kept)
        part.rename(path)
        print(f"{name} ({eta1:g}, {n_neighbors}): {plain:.3f} {accuracy:.3f}, "
              f"{time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip


def spectra(X, labels, n_clusters):
    """Return the leading squared singular values of the clusters' unit points, then their rest."""
    from scipy.linalg import eigvalsh

    from dssc.features import unit_norm

    found = np.zeros((n_clusters, N_VALUES + 1))
    for cluster in range(n_clusters):
        points = unit_norm(X[labels == cluster].astype(float))
        short = points if points.shape[0] < points.shape[1] else points.T
        values = np.maximum(eigvalsh(short @ short.T)[::-1], 0.0)
        found[cluster, : min(N_VALUES, len(values))] = values[:N_VALUES]
        found[cluster, -1] = values[N_VALUES:].sum()
    return found


def main(arguments):
    """Study the data sets named, or print the tables."""
    folder = Path(arguments.pop(arguments.index("--keep") + 1))
    arguments.remove("--keep")
    warnings.simplefilter("ignore")
    for name in arguments or (*OTHERS, *PAPER, *HELD_OUT):
        study(name, folder / name)


if __name__ == "__main__":
    main(sys.argv[1:])
