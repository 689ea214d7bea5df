import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dssc.cli.exits import CommandError
from dssc.cli.reading.dispatch import read_samples
from dssc.cli.reading.reader import ReadOptions

anndata = pytest.importorskip("anndata")
pytestmark = pytest.mark.usefixtures("in_this_process")

X = np.arange(12.0).reshape(4, 3) + 1
NAMES = ["AAAC", "AAAG", "AACA", "AACC"]


@pytest.fixture
def cells(tmp_path):
    """A file of anndata with everything that is read, and things that are not."""
    obs = pd.DataFrame(
        {
            "type": pd.Categorical(["B", "T", None, "T"]),
            "batch": [1, 2, 1, 2],
            "donor": ["u", "u", "v", "v"],
            "passed": pd.array([True, None, True, False], dtype="boolean"),
        },
        index=NAMES,
    )
    data = anndata.AnnData(sparse.csr_matrix(X), obs)
    data.layers["counts"] = sparse.csc_matrix(2 * X)
    data.obsm["X_pca"] = 3 * X[:, :2]
    data.obsm["frame"] = pd.DataFrame({"a": range(4)}, index=NAMES)
    data.obsp["connectivities"] = sparse.csr_matrix(np.eye(4))
    data.uns["notes"] = {"a": "b"}
    path = tmp_path / "cells.h5ad"
    data.write_h5ad(path)
    return path


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (None, X),
        ("X", X),
        ("counts", 2 * X),
        ("layers/counts", 2 * X),
        ("X_pca", 3 * X[:, :2]),
        ("connectivities", np.eye(4)),
    ],
)
def test_matrices_by_key(cells, key, expected):
    samples = read_samples(cells, ReadOptions(key=key))
    values = samples.values.toarray() if sparse.issparse(samples.values) else samples.values
    np.testing.assert_array_equal(values, expected)
    assert samples.identification() == {"cell": NAMES}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("type", ["B", "T", "", "T"]),
        ("batch", [1, 2, 1, 2]),
        ("donor", ["u", "u", "v", "v"]),
        ("passed", ["True", "", "True", "False"]),
    ],
)
def test_annotations_are_labels(cells, labels, expected):
    assert read_samples(cells, ReadOptions(labels=labels)).labels.tolist() == expected


def test_annotations_can_be_names(cells):
    samples = read_samples(cells, ReadOptions(id="donor"))
    assert samples.identification() == {"donor": ["u", "u", "v", "v"]}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"key": "X_pc"}, r"--key X_pc: .* did you mean 'X_pca'\? it has X, layers/counts, counts"),
        ({"labels": "typ"}, r"did you mean 'type'\?"),
        ({"id": "x"}, "--id x: .* has no column or array of that name; it has "),
        ({"key": "frame"}, "/obsm/frame is encoded as 'dataframe', which dssc does not read"),
    ],
)
def test_names_that_the_file_does_not_have(cells, options, message):
    with pytest.raises(CommandError, match=message):
        read_samples(cells, ReadOptions(**options))


def test_indices_beyond_the_shape_are_refused(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "shape": (2, 3)})
        group.update({"data": np.ones(2), "indices": [0, 99], "indptr": [0, 1, 2]})
        names = file.create_group("obs")
        names.attrs.update({"encoding-type": "dataframe", "_index": "_index"})
        names["_index"] = ["a", "b"]
    with pytest.raises(ValueError, match="not a valid sparse matrix"):
        read_samples(path, ReadOptions())
