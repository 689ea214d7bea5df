import sys

import numpy as np
import pytest
from scipy import sparse

from dssc import ADSSC, TSC, make_union_of_subspaces, project_doubly_stochastic
from dssc.anndata import read_connectivities, to_anndata

anndata = pytest.importorskip("anndata")


@pytest.fixture(scope="module")
def points():
    return make_union_of_subspaces(90, n_subspaces=3, n_features=12, random_state=0)


@pytest.fixture(scope="module")
def model(points):
    return ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0).fit(points[0])


def test_what_is_written(model, points, tmp_path):
    cells = anndata.AnnData(points[0])
    assert to_anndata(model, cells) is cells
    cells.write_h5ad(tmp_path / "cells.h5ad")
    read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    np.testing.assert_array_equal(read.obs["dssc"].astype(int), model.labels_)
    np.testing.assert_array_equal(read.obsm["X_dssc"], model.embedding_)
    A = model.affinity_matrix_.toarray()
    np.fill_diagonal(A, 0)
    graph = read_connectivities(read, "dssc")
    assert isinstance(graph, sparse.csr_array)
    np.testing.assert_array_equal(graph.toarray(), A)
    assert read.uns["dssc"]["params"]["eta2"] == model.eta2_


def test_the_default_graph_without_cells(model):
    cells = to_anndata(model, key_added=None)
    assert cells.n_obs == 90
    assert set(cells.obsp) == {"connectivities"}
    result = project_doubly_stochastic(read_connectivities(cells), 0.1)
    assert result.converged


def test_confidences_are_written(model):
    np.testing.assert_array_equal(to_anndata(model).obs["dssc_confidence"], model.confidence_)


def test_a_graph_that_is_not_symmetric_becomes_symmetric(points):
    cells = to_anndata(TSC(3, random_state=0).fit(points[0]), key_added="tsc")
    graph = read_connectivities(cells, "tsc")
    assert abs(graph - graph.T).max() == 0


def test_clusters_are_sorted_by_number(points):
    model = ADSSC(12, eta1=1.0, n_neighbors=4, random_state=0).fit(points[0])
    categories = to_anndata(model).obs["dssc"].cat.categories
    assert categories.tolist() == [str(number) for number in range(12)]


def test_mistakes_are_named(model, points, monkeypatch):
    with pytest.raises(ValueError, match="n_obs=89 cells but the model was fitted to 90"):
        to_anndata(model, anndata.AnnData(points[0][1:]))
    cells = to_anndata(model)
    for key in (None, "other"):
        with pytest.raises(
            ValueError, match=r"no such graph .* \(obsp holds 'dssc_connectivities'"
        ):
            read_connectivities(cells, key)
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(ImportError, match=r"pip install 'dssc\[anndata\]'"):
        to_anndata(model)
