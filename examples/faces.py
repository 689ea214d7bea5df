"""
Faces
=====

Forty people, ten photographs each (the ORL database). Images of one face lie near a subspace of
their own. The affinity connects each photograph with a few others, and wrong connections show who
resembles whom. The images are read from the folder in ``DSSC_DATA``. If they are missing, the
example says so and ends.
"""

import matplotlib.pyplot as plt

from dssc import ADSSC, clustering_accuracy, fetch_orl, subspace_preserving_error
from dssc.plotting import plot_affinity, plot_clusters


def main():
    """Cluster the faces for four numbers of neighbours."""
    try:
        faces = fetch_orl(download_if_missing=False)
    except FileNotFoundError as error:
        print(f"skipped: {error}")
        return
    print(f"{'neighbours':>10} {'eta2':>8} {'accuracy':>9} {'between people':>15}")
    for n_neighbors in (5, 8, 12, 20):
        model = ADSSC(n_clusters=40, eta1=1.0, n_neighbors=n_neighbors, random_state=0).fit(
            faces.data
        )
        accuracy = clustering_accuracy(faces.target, model.labels_)
        error = subspace_preserving_error(model.affinity_matrix_, faces.target)
        print(f"{n_neighbors:10} {model.eta2_:8.3f} {accuracy:9.3f} {error:15.1%}")

    model = ADSSC(n_clusters=40, eta1=1.0, n_neighbors=12, random_state=0).fit(faces.data)
    _, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
    plot_affinity(model.affinity_matrix_, faces.target, ax=axes[0], title="sorted by person")
    few = model.labels_ < 8
    plot_clusters(
        faces.images[few],
        model.labels_[few],
        model.embedding_[few],
        n_members=5,
        ax=axes[1],
        title="the first eight clusters",
    )
    plt.show()


if __name__ == "__main__":
    main()
