"""
On a GPU
========

The search of all pairs of points is a product of matrices, which GPUs are made for: 70,000 images
take 0.11 s on an H200, and ten million points five minutes (:doc:`/gpu` has the table and its
commands). One argument moves a fit there, and the result has the same certificate as on the CPU.
This page was built on a machine without a GPU. There it runs the same PyTorch code on the CPU,
which shows that the results agree, but not the speed.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.plotting import plot_affinity, plot_embedding

# %%
# Choosing the device
# -------------------
#
# ``device="cuda"`` runs the fit with PyTorch on the first GPU, ``"cuda:1"`` on the second, and
# ``"torch"`` with PyTorch on the CPU.

device = "cuda" if torch.cuda.is_available() else "torch"
print(f"this page was built with device={device!r}")

X, y = make_union_of_subspaces(
    3000, n_subspaces=8, dimension=5, n_features=40, noise=0.3, random_state=0
)
model = ADSSC(8, device=device, random_state=0).fit(X)
print(f"accuracy {clustering_accuracy(y, model.labels_):.3f}")
print(model.projection_.status)

# %%
# The same result?
# ----------------
#
# Products are computed in low precision to *find* candidates. The bounds include the rounding,
# and what is kept is computed again in float64. So the affinity must be that of the CPU up to
# the tolerance, and we can check it. The parameters of the first fit are passed on, so that
# nothing is chosen twice.

given = {"eta1": model.eta1_, "eta2": model.eta2_, "signed": model.signed_, "random_state": 0}
on_device = ADSSC(8, device=device, **given).fit(X)
on_cpu = ADSSC(8, device="cpu", **given).fit(X)
difference = abs(on_device.affinity_matrix_ - on_cpu.affinity_matrix_).max()
print(f"largest difference of an entry: {difference:.1e}")
print(f"equal labels: {clustering_accuracy(on_cpu.labels_, on_device.labels_):.4f}")

# %%
# Tensors
# -------
#
# A tensor that is already on a GPU is used where it is, without ``device``. Results are NumPy
# arrays and SciPy matrices in every case, so that everything after the fit works as usual.

tensor = torch.from_numpy(X).float()
if torch.cuda.is_available():
    tensor = tensor.cuda()
labels = ADSSC(8, **given).fit_predict(tensor)
print(type(labels).__name__, np.bincount(labels))

# %%
# Where does the time go?
# -----------------------
#
# ``timings_`` has the seconds of every step. On a GPU the search shrinks to almost nothing, and
# the rest of a fit is the projection, the eigenvectors and k-means. With fewer than 10,000
# points, eigenvectors and k-means run on the CPU in any case.

for step, seconds in on_device.timings_.items():
    print(f"{step:16} {seconds:.2f} s")

# %%
# The result itself looks as always.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
plot_affinity(on_device, ax=axes[0], title="affinity by cluster")
plot_embedding(on_device, ax=axes[1], title="embedding")

# %%
# When is it worth it?
# --------------------
#
# Up to some ten thousand points the CPU is fast enough: 10,000 points take about a second. Above
# that, time grows with the square of the number of points, on a GPU as well, but from a far
# smaller start. For images, compute the features there as well: ``scattered_features(images,
# device="cuda")``. :doc:`/gpu` says what runs on a GPU and what to do when its memory is short.
