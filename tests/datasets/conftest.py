from dataclasses import replace

import pytest

from dssc.datasets import digits, faces, objects


@pytest.fixture
def small(monkeypatch):
    """Make two classes of two samples each the complete sets."""
    for module, name in [
        (faces, "YALEB"),
        (faces, "ORL"),
        (faces, "UMIST"),
        (faces, "UMIST_SCATTERED"),
        (objects, "COIL"),
        (digits, "MNIST"),
        (digits, "EMNIST"),
        (digits, "EMNIST_PART"),
    ]:
        data_set = replace(getattr(module, name), n_samples=4, n_classes=2)
        monkeypatch.setattr(module, name, data_set)
