"""
Single cells
============

From counts of genes to types of cells, and into the tables of anndata that scanpy works on. The
counts are simulated: cell types differ in some of their genes, and cells in how many molecules
were caught of each. Real data come from ``anndata.read_h5ad`` or, on the command line, ``dssc
cluster cells.h5ad``.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from dssc import ADSSC
from dssc.anndata import to_anndata
from dssc.plotting import plot_affinity, plot_embedding, plot_spectrum

# %%
# Counts
# ------
#
# Five types of very different sizes, from 300 T cells to 30 platelets. Each type has 5 % of the
# genes four times as active as the others; depths vary between cells by a factor of about two.

SIZES = {"T": 300, "B": 200, "NK": 120, "monocyte": 80, "platelet": 30}


def simulate_cells(n_genes=1000, seed=0):
    """Return counts of cells with their types."""
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
    cells.var_names = [f"gene{number}" for number in range(n_genes)]
    cells.obs["type"] = types
    return cells


cells = simulate_cells()
print(
    f"{cells.n_obs} cells, {cells.n_vars} genes, {np.mean(cells.X == 0):.0%} of the counts are zero"
)

# %%
# Normalise
# ---------
#
# Counts per cell are scaled to one total, logarithms are taken, and principal components are
# computed. These are the usual steps, as ``scanpy.pp.normalize_total``, ``log1p`` and ``pca`` do
# them.

fractions = cells.X / cells.X.sum(axis=1, keepdims=True)
logarithms = np.log1p(1e4 * fractions)
cells.obsm["X_pca"] = PCA(20, random_state=0).fit_transform(logarithms)

# %%
# Cluster
# -------
#
# ``to_anndata`` writes the clusters into ``obs``, the embedding into ``obsm`` and the graph into
# ``obsp``, where scanpy looks for them. Next could come ``scanpy.tl.umap(cells,
# neighbors_key="dssc")``.

model = ADSSC(n_clusters=5, random_state=0).fit(cells.obsm["X_pca"])
to_anndata(model, cells)
print(f"ARI {adjusted_rand_score(cells.obs['type'], cells.obs['dssc']):.3f}")
print(f"{cells.obs.groupby(['type', 'dssc'], observed=True).size().unstack(fill_value=0)}\n")
print(cells)

# %%
figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
plot_affinity(model, ax=axes[0], title="graph by cluster")
plot_embedding(model, ax=axes[1], title="embedding")
plot_spectrum(model, ax=axes[2])

# %%
# Marker genes
# ------------
#
# Which genes make a cluster? Compare the mean logarithms inside and outside of it. For tests
# with p-values use ``scanpy.tl.rank_genes_groups(cells, "dssc")``.

clusters = range(model.n_clusters_)
markers = []
for cluster in clusters:
    inside = model.labels_ == cluster
    difference = logarithms[inside].mean(axis=0) - logarithms[~inside].mean(axis=0)
    markers.extend(np.argsort(-difference)[:6])
means = np.array([logarithms[model.labels_ == c][:, markers].mean(axis=0) for c in clusters])

figure, ax = plt.subplots(figsize=(9, 2.6), layout="constrained")
ax.imshow(means, cmap="viridis", aspect="auto")
ax.set_xticks(range(len(markers)), cells.var_names[markers], rotation=90, fontsize=7)
ax.set(ylabel="cluster", yticks=list(clusters))

# %%
# Cells in doubt
# --------------
#
# A droplet with two cells lies between two types. We add up the counts of pairs of cells and ask
# for the clusters of the sums: their affinity is more divided than that of single cells.

rng = np.random.default_rng(1)
first, second = (
    rng.choice(np.flatnonzero(cells.obs["type"] == "T"), 40),
    rng.choice(np.flatnonzero(cells.obs["type"] == "B"), 40),
)
sums = cells.X[first] + cells.X[second]
pca = PCA(20, random_state=0).fit(logarithms)
doublets = pca.transform(np.log1p(1e4 * sums / sums.sum(axis=1, keepdims=True)))
shares = model.predict_proba(doublets).max(axis=1)
print(f"largest share of doublets: {shares.mean():.2f} in the mean")
print(f"largest share of cells:    {model.confidence_.mean():.2f} in the mean")

# %%
# :doc:`/other_libraries` compares with Leiden on real cells, and shows how to go from scanpy's
# graph to a doubly stochastic one.
