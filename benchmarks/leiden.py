"""Leiden of scanpy on its own graph of neighbours, and on the doubly stochastic one.

    DSSC_DATA=folder python benchmarks/leiden.py

Everything at its defaults. Leiden chooses the number of clusters, ADSSC is given it. Needs
dssc[integrations].
"""

import warnings

import numpy as np
import scanpy
from selection_data import load
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC
from dssc.anndata import to_anndata

DATA = ("pbmc68k", "worm_neurons", "lymphoma")


def leiden(cells, neighbors_key):
    """Return the clusters of Leiden on a graph."""
    scanpy.tl.leiden(
        cells, neighbors_key=neighbors_key, flavor="igraph", n_iterations=2, random_state=0
    )
    return cells.obs["leiden"].astype(int)


def main():
    """Print a row of a table for each data set."""
    print("| cells | classes | scanpy's graph | our graph | `ADSSC` |\n|---|---|---|---|---|")
    for name in DATA:
        X, y = load(name)
        k = len(np.unique(y))
        cells = scanpy.AnnData(X)
        scanpy.pp.neighbors(cells, use_rep="X", random_state=0)
        to_anndata(ADSSC(k, random_state=0).fit(X), cells)
        clusterings = leiden(cells, None), leiden(cells, "dssc"), cells.obs["dssc"]
        scores = [f"{adjusted_rand_score(y, c):.3f} ({c.nunique()})" for c in clusterings]
        columns = [f"{name}, {len(X):,} x {X.shape[1]}", str(k), *scores]
        print(f"| {' | '.join(columns)} |", flush=True)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
