import numpy as np
import pytest

from dssc import ADSSC, LSR, GraphClustering, make_union_of_subspaces
from dssc.report.recipe import python_code, reported_parameters, used_values, versions


@pytest.mark.parametrize(
    "model",
    [
        ADSSC(3, eta1=np.inf, n_neighbors=9, signed=True, random_state=4, verbose=1),
        ADSSC(8),
        LSR(3, affinity="doubly_stochastic", random_state=0),
        GraphClustering(None, contamination=0.1),
    ],
)
def test_the_code_makes_an_equal_model(model):
    code = python_code(model, "some\nfile.csv", ["PCA to 9"])
    assert "# X: some file.csv, PCA to 9\n" in code
    names = {"inf": np.inf}
    exec(code.split("labels =")[0], names)
    assert reported_parameters(names["model"]) == reported_parameters(model)
    assert "verbose" not in code


def test_the_same_labels_come_out():
    X, _ = make_union_of_subspaces(60, random_state=0)
    model = ADSSC(3, n_neighbors=8, random_state=0).fit(X)
    names = {"X": X}
    exec(python_code(model, "points", []), names)
    np.testing.assert_array_equal(names["labels"], model.labels_)


def test_what_was_used():
    X, _ = make_union_of_subspaces(60, random_state=0)
    model = ADSSC(None, random_state=0).fit(X)
    used = used_values(model)
    assert used["n_clusters"] == model.n_clusters_
    assert used["eta1"] == model.eta1_
    assert "NumPy" in versions()
