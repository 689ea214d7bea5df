"""How well clusters agree with known classes."""

from sklearn.metrics import normalized_mutual_info_score

from dssc.metrics import clustering_accuracy, subspace_preserving_error


def scores(model, classes) -> dict[str, float]:
    """Return accuracy, mutual information, and the affinity's share between classes."""
    return {
        "ACC": clustering_accuracy(classes, model.labels_),
        "NMI": float(normalized_mutual_info_score(classes, model.labels_)),
        "SPE": subspace_preserving_error(model.affinity_matrix_, classes),
    }
