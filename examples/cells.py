"""
Single cells
============

From counts of genes to types of cells, and into the tables of anndata that scanpy works on. The
counts are simulated: cell types differ in some of their genes, and cells in how many molecules were
caught of each. Real data come from ``anndata.read_h5ad`` or, on the command line, ``dssc cluster
cells.h5ad``.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC
from dssc.anndata import to_anndata
from dssc.plotting import plot_affinity, plot_spectrum

SIZES = {"T": 300, "B": 200, "NK": 120, "monocyte": 80, "platelet": 30}


def main():
    """Simulate cells, normalise their counts, cluster them, and write the result."""
    cells = simulate_cells()
    # As scanpy.pp.normalize_total, log1p and pca do it.
    counts = cells.X / cells.X.sum(axis=1, keepdims=True)
    cells.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(np.log1p(1e4 * counts))

    model = ADSSC(n_clusters=5, random_state=0).fit(cells.obsm["X_pca"])
    to_anndata(model, cells)
    found = adjusted_rand_score(cells.obs["type"], cells.obs["dssc"])
    print(
        f"{cells.n_obs} cells, {cells.n_vars} genes: {model.n_clusters_} clusters, ARI {found:.3f}"
    )
    print(f"{cells.obs.groupby(['type', 'dssc'], observed=True).size().unstack(fill_value=0)}\n")
    # Next, for example: scanpy.tl.umap(cells, neighbors_key="dssc")
    print(cells)

    _, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
    plot_affinity(model.affinity_matrix_, model.labels_, ax=axes[0], title="graph by cluster")
    plot_spectrum(model.affinity_matrix_, model.n_clusters_, ax=axes[1])
    plt.show()


def simulate_cells(n_genes=1000, seed=0):
    """Return counts of cells with their types; types differ in 5 % of the genes."""
    rng = np.random.default_rng(seed)
    types = np.repeat(list(SIZES), list(SIZES.values()))
    means = rng.lognormal(-1.0, 1.0, n_genes)
    counts = np.empty((len(types), n_genes), dtype=np.float32)
    for name in SIZES:
        rates = means.copy()
        rates[rng.choice(n_genes, n_genes // 20, replace=False)] *= 4.0
        rows = types == name
        depths = rng.lognormal(0.0, 0.4, (rows.sum(), 1))
        counts[rows] = rng.poisson(depths * rng.gamma(2.0, rates / 2.0, (rows.sum(), n_genes)))
    cells = anndata.AnnData(counts)
    cells.obs_names = [f"cell{number}" for number in range(len(types))]
    cells.obs["type"] = types
    return cells


if __name__ == "__main__":
    main()
