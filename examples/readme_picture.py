"""Draw the README's picture: |C| of LSR beside its doubly stochastic projection."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from dssc import ADSSC, make_union_of_subspaces, subspace_preserving_error
from dssc.plotting import plot_affinity

PICTURE = Path(__file__).parents[1] / "docs" / "affinity.png"


def main():
    """Write the picture."""
    X, y = make_union_of_subspaces(
        250, n_subspaces=5, dimension=4, n_features=15, noise=0.05, random_state=0
    )
    model = ADSSC(5, random_state=0).fit(X)
    figure, axes = plt.subplots(1, 2, figsize=(8, 4.3), layout="constrained")
    pictures = [("|C|", model.representation_matrix_), ("A", model.affinity_matrix_)]
    for ax, (name, matrix) in zip(axes, pictures, strict=True):
        error = subspace_preserving_error(matrix, y)
        plot_affinity(matrix, y, ax=ax, title=f"{name}: {error:.0%} of its mass between subspaces")
    figure.savefig(PICTURE, dpi=100)


if __name__ == "__main__":
    main()
