"""Exchange with anndata, the table of annotated cells that scanpy and its relatives work on."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from dssc.graph import as_graph

if TYPE_CHECKING:
    from anndata import AnnData

# Parameters of the model that are written beside the graph, if it has them.
RECORDED = ("eta1_", "eta2_")


def to_anndata(model: Any, adata: "AnnData | None" = None, key_added: str | None = "dssc") -> Any:
    """Write the clusters and the graph of a fitted model to where scanpy looks for them.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this package.
    adata : AnnData, optional
        The cells that the model was fitted to, in the same order. It is changed in place. By
        default, a new object without measurements is made.
    key_added : str or None, default="dssc"
        The name of the graph, for ``neighbors_key=`` of scanpy. None makes it the default graph of
        all tools of scanpy, and replaces the one of ``scanpy.pp.neighbors``.

    Returns
    -------
    adata : AnnData
        With clusters in ``obs["dssc"]``, confidences in ``obs["dssc_confidence"]`` if the model has
        them, the embedding in ``obsm["X_dssc"]``, and the affinity in
        ``obsp["dssc_connectivities"]``. With ``key_added=None`` the last is
        ``obsp["connectivities"]``, and with another key that key takes the place of "dssc".

    Notes
    -----
    Graphs of scanpy are symmetric and have no loops. So the affinity is written as
    ``(A + A') / 2`` without its diagonal. Where A has none, its rows still sum to one.
    """
    check_is_fitted(model)
    graph = as_graph(model.affinity_matrix_)
    adata = _new(graph.shape[0]) if adata is None else adata
    if adata.n_obs != graph.shape[0]:
        raise ValueError(
            f"adata has n_obs={adata.n_obs} cells but the model was fitted to {graph.shape[0]}; "
            "give the cells of the fit"
        )
    name = key_added or "dssc"
    graph_name = "connectivities" if key_added is None else f"{key_added}_connectivities"
    adata.obs[name] = _categories(model.labels_)
    if hasattr(model, "confidence_"):
        adata.obs[f"{name}_confidence"] = model.confidence_
    adata.obsm[f"X_{name}"] = model.embedding_
    adata.obsp[graph_name] = _without_loops(graph)
    adata.uns[key_added or "neighbors"] = {
        "connectivities_key": graph_name,
        # scanpy asks for the name of distances; there are none.
        "distances_key": graph_name.replace("connectivities", "distances"),
        "params": _parameters(model, adata.obsp[graph_name]),
    }
    return adata


def read_connectivities(adata: "AnnData", neighbors_key: str | None = None) -> sparse.csr_array:
    """Return the graph of neighbours that scanpy, or `to_anndata`, has written.

    Parameters
    ----------
    adata : AnnData
        The cells.
    neighbors_key : str, optional
        The name of the graph, as for the tools of scanpy; by default that of
        ``scanpy.pp.neighbors``.

    Returns
    -------
    graph : csr_array of shape (n_obs, n_obs)
        The weights, for :func:`dssc.project_doubly_stochastic`.
    """
    settings = adata.uns.get(neighbors_key or "neighbors", {})
    name = settings.get("connectivities_key", "connectivities")
    if name not in adata.obsp or (neighbors_key is not None and not settings):
        known = ", ".join(map(repr, adata.obsp)) or "nothing"
        raise ValueError(
            f"neighbors_key={neighbors_key!r}: adata has no such graph of neighbours (obsp holds "
            f"{known}); run scanpy.pp.neighbors first, or give its key_added"
        )
    return sparse.csr_array(adata.obsp[name], dtype=np.float64)


def _new(n: int) -> "AnnData":
    try:
        from anndata import AnnData
    except ImportError as error:
        raise ImportError("to_anndata needs anndata: pip install 'dssc[anndata]'") from error
    from pandas import DataFrame

    return AnnData(obs=DataFrame(index=[str(row) for row in range(n)]))


def _categories(labels: Any) -> Any:
    """Return labels as text with an order, as the tools of scanpy write clusters."""
    from pandas import Categorical

    return Categorical.from_codes(
        np.unique(labels, return_inverse=True)[1], [str(label) for label in np.unique(labels)]
    )


def _without_loops(graph: sparse.csr_array) -> sparse.csr_matrix:
    """Return a graph as a matrix, the type that all versions of anndata can write."""
    entries = graph.tocoo()
    off = entries.row != entries.col
    return sparse.csr_matrix(
        (entries.data[off], (entries.row[off], entries.col[off])), shape=graph.shape
    )


def _parameters(model: Any, graph: Any) -> dict[str, Any]:
    """Return what scanpy shows about a graph: only types that can be written to a file."""
    recorded = {name[:-1]: float(getattr(model, name)) for name in RECORDED if hasattr(model, name)}
    n_neighbors = round(graph.nnz / graph.shape[0])
    return {"n_neighbors": n_neighbors, "method": type(model).__name__, **recorded}
