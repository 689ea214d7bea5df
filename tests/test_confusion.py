import numpy as np
import pytest

from dssc import clustering_accuracy
from dssc.confusion import confusion_matrix


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_the_confusion_matrix_has_the_best_matching_on_its_diagonal(n_classes, rng):
    y, labels = np.arange(60) % n_classes, rng.integers(0, 3, 60)
    known = confusion_matrix(y, labels, 3)
    assert known.counts.shape == (n_classes, 3)
    assert sorted(known.classes) == [str(c) for c in range(n_classes)]
    assert sorted(known.clusters) == [0, 1, 2]
    for i, name in enumerate(known.classes):
        for j, cluster in enumerate(known.clusters):
            both = (y == int(name)) & (labels == cluster)
            assert known.counts[i, j] == np.count_nonzero(both)
    diagonal = np.trace(known.counts[:3, : min(3, n_classes)])
    assert diagonal / 60 == pytest.approx(clustering_accuracy(y, labels))
