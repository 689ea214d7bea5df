"""
On many machines, or larger than memory
=======================================

A Dask array takes the place of a NumPy array, and the workers of a cluster search the pairs of
points. Without a cluster, the same code fits data that do not fit into memory. In both cases the
labels are those of one machine with enough memory, to the last bit. Here we try it on one machine,
with two workers in this process; :doc:`/many_machines` has the rest: what runs where, what happens
if a worker dies, Slurm and Kubernetes.
"""

import tempfile
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.plotting import plot_embedding

# %%
# Data on disk
# ------------
#
# We write 4,500 points to a file, as a program would that makes them one batch after the other,
# and open the file as a Dask array with chunks of 1,000 rows. Nothing is read yet. For files in
# other formats there are ``dask.array.from_zarr``, ``from_npy_stack`` and the readers of Dask's
# data frames.

folder = Path(tempfile.mkdtemp())
points, y = make_union_of_subspaces(
    4500, n_subspaces=6, dimension=4, n_features=30, noise=0.3, random_state=0
)
np.save(folder / "points.npy", points)
X = da.from_array(np.load(folder / "points.npy", mmap_mode="r"), chunks=(1000, -1))
print(X)

# %%
# Workers
# -------
#
# A client of ``distributed`` that is active when ``fit`` is called is used by it. On a real
# cluster this line is ``Client("address of the scheduler")``. ``checkpoint`` names a folder that
# keeps the finished parts of the search.

client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
given = {"eta1": 0.1, "n_neighbors": 12, "random_state": 0}
model = ADSSC(6, checkpoint=folder / "parts", **given).fit(X)
print(f"accuracy {clustering_accuracy(y, model.labels_):.3f}")
print(model.projection_.status)

# %%
# The same bits
# -------------
#
# Not about the same: the same. The workers multiply every pair of chunks in the order of
# summation of one machine, so the affinity of the plain fit has equal entries.

alone = ADSSC(6, **given).fit(points)
print("labels equal:  ", np.array_equal(model.labels_, alone.labels_))
print("affinity equal:", (model.affinity_matrix_ != alone.affinity_matrix_).nnz == 0)

# %%
# After an interruption
# ---------------------
#
# If the program is killed, run it again: the parts that were finished are read from the folder.
# We can see that by fitting once more.

parts = sorted(path for path in (folder / "parts").rglob("*") if path.is_file())
print(f"{len(parts)} files, {sum(path.stat().st_size for path in parts) / 1e6:.1f} MB")
again = ADSSC(6, checkpoint=folder / "parts", **given).fit(X)
print("labels equal:", np.array_equal(again.labels_, model.labels_))

# %%
# New points in chunks
# --------------------
#
# ``predict`` of a Dask array is a Dask array, computed chunk by chunk when it is asked for.

new, y_new = X[:500] + 0.01, y[:500]
labels = model.predict(new)
print(labels)
print(f"accuracy {clustering_accuracy(y_new, labels.compute()):.3f}")
client.close()

# %%
figure, ax = plt.subplots(figsize=(5, 4.4), layout="constrained")
plot_embedding(model, ax=ax, title="4,500 points, about 2,000 drawn")
