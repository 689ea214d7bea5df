"""How well clusters agree with known classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import normalized_mutual_info_score

from dssc.metrics import clustering_accuracy, subspace_preserving_error


def class_scores(model: Any, classes: ArrayLike) -> dict[str, float]:
    """Return a fitted estimator's accuracy, mutual information and subspace preserving error.

    Samples without a cluster, whose label is -1, are left out.
    """
    kept = np.flatnonzero(model.labels_ >= 0)
    true, labels = np.asarray(classes)[kept], model.labels_[kept]
    return {
        "ACC": clustering_accuracy(true, labels),
        "NMI": float(normalized_mutual_info_score(true, labels)),
        "SPE": subspace_preserving_error(model.affinity_matrix_[kept][:, kept], true),
    }
