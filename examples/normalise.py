"""
Normalising another method's affinity
=====================================

The projection takes any square similarity. Here it normalises a Gaussian kernel, which has nothing
to do with subspaces, and the coefficients of another subspace method. Spectral clustering then
works on a sparse matrix whose rows and columns sum to one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances

from dssc import (
    LSR,
    assign_labels,
    clustering_accuracy,
    nonzeros_per_point,
    project_doubly_stochastic,
    spectral_embedding,
    subspace_preserving_error,
)
from dssc.plotting import plot_affinity

# %%
# A kernel
# --------
#
# The Gaussian kernel of the digits of scikit-learn connects every image with every other one. A
# point is not its own neighbour, so the diagonal is set to zero.

X, y = load_digits(return_X_y=True)
squares = pairwise_distances(X, metric="sqeuclidean")
kernel = np.exp(-squares / np.median(squares))
np.fill_diagonal(kernel, 0.0)


def show(name, affinity):
    """Print how well an affinity separates the classes."""
    U = spectral_embedding(affinity, 10, random_state=0)
    accuracy = clustering_accuracy(y, assign_labels(U, 10, random_state=0))
    error = subspace_preserving_error(affinity, y)
    print(f"{name:28} {accuracy:9.3f} {error:16.1%} {nonzeros_per_point(affinity):9.1f}")


print(f"{'affinity':28} {'accuracy':>9} {'between classes':>16} {'nonzeros':>9}")
show("Gaussian kernel", kernel)

# %%
# Its projection
# --------------
#
# The smaller ``eta2``, the fewer neighbours a point has, and the less mass lies between classes.

for eta2 in (10.0, 3.0, 1.0):
    result = project_doubly_stochastic(kernel, eta2=eta2)
    show(f"projected, eta2 = {eta2:g}", result.plan)
    print(f"  {result.status}")

figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
plot_affinity(kernel, y, ax=axes[0], title="Gaussian kernel")
plot_affinity(result.plan, y, ax=axes[1], title=f"projected, eta2 = {eta2:g}")

# %%
# Inside an estimator
# -------------------
#
# The estimators of other methods do the same with ``affinity="doubly_stochastic"``.

for affinity in ("symmetric", "doubly_stochastic"):
    model = LSR(n_clusters=10, affinity=affinity, random_state=0).fit(X)
    show(f"LSR, {affinity}", model.affinity_matrix_)
