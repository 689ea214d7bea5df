"""The paper's data sets with the paper's parameters and protocol."""

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import normalized_mutual_info_score

from dssc import (
    ADSSC,
    assign_labels,
    clustering_accuracy,
    fetch_coil,
    fetch_orl,
    fetch_umist,
    fetch_yaleb,
    nonzeros_per_point,
    subspace_preserving_error,
)

# Name, eta1 and eta2 of the paper's parameter table, lowest ACC and NMI, ranges of SPE and NNZ.
CASES = [
    ("yaleb", 0.5, 0.1, 0.90, 0.94, (0.078, 0.084), (13.9, 14.8)),
    ("orl", 1.0, 0.05, 0.77, 0.90, (0.157, 0.162), (9.6, 10.0)),
    ("umist", 0.5, 0.05, 0.70, 0.84, (0.032, 0.036), (4.7, 5.1)),
    ("umist_scattered", 0.5, 0.01, 0.86, 0.92, (0.017, 0.020), (5.2, 5.6)),
    ("coil40", 25.0, 0.001, 0.89, 0.96, (0.0, 0.010), (5.0, 5.8)),
]


LOADERS = {
    "yaleb": fetch_yaleb,
    "orl": fetch_orl,
    "umist": fetch_umist,
    "umist_scattered": partial(fetch_umist, scattered=True),
    "coil40": partial(fetch_coil, n_objects=40),
}


def load(name, data_home):
    return LOADERS[name](data_home=data_home, return_X_y=True)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("name", "eta1", "eta2", "acc", "nmi", "spe", "nnz"), CASES)
def test_the_paper_is_reproduced(name, eta1, eta2, acc, nmi, spe, nnz, symmetric, data_home):
    X, y = load(name, data_home)
    k = len(np.unique(y))
    model = ADSSC(k, eta1=eta1, eta2=eta2, symmetric=symmetric, n_components=k, random_state=0)
    model.set_params(n_init=1, merge_copies=False).fit(X)
    assert model.projection_.converged
    A = model.affinity_matrix_
    assert spe[0] <= subspace_preserving_error((A + A.T) / 2, y) <= spe[1]
    assert nnz[0] <= nonzeros_per_point(A) <= nnz[1]
    runs = [assign_labels(model.embedding_, k, n_init=1, random_state=run) for run in range(100)]
    assert np.mean([clustering_accuracy(y, labels) for labels in runs]) >= acc
    assert np.mean([normalized_mutual_info_score(y, labels) for labels in runs]) >= nmi


@pytest.mark.parametrize(("name", "acc"), [("yaleb", 0.90), ("orl", 0.79)])
def test_the_defaults_work(name, acc, data_home):
    X, y = load(name, data_home)
    labels = ADSSC(len(np.unique(y)), random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) >= acc
