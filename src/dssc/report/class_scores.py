"""How well clusters agree with known classes."""

from typing import Any

from numpy.typing import ArrayLike
from sklearn.metrics import normalized_mutual_info_score

from dssc.metrics import clustering_accuracy, subspace_preserving_error


def class_scores(model: Any, classes: ArrayLike) -> dict[str, float]:
    """Return a fitted estimator's accuracy, mutual information and subspace preserving error."""
    return {
        "ACC": clustering_accuracy(classes, model.labels_),
        "NMI": float(normalized_mutual_info_score(classes, model.labels_)),
        "SPE": subspace_preserving_error(model.affinity_matrix_, classes),
    }
