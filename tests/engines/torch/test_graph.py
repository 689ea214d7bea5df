import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from dssc.engines.torch.graph import TorchGraph, components, csr_on_device, csr_on_host
from tests.engines.torch.examples import dense_of


@pytest.mark.parametrize("density", [0.0, 0.005, 0.02, 0.5])
def test_components_are_those_of_scipy(density, where, rng):
    G = sparse.random_array((200, 200), density=density, random_state=rng, format="coo")
    G = sparse.coo_array(G + G.T)
    rows, columns = (torch.as_tensor(part, device=where).long() for part in (G.row, G.col))
    labels = components(rows, columns, 200).cpu().numpy()
    _, expected = connected_components(G, directed=False)
    assert len(np.unique(labels)) == len(np.unique(expected))
    assert len(set(zip(labels, expected, strict=True))) == len(np.unique(expected))


def test_a_matrix_comes_back_from_the_device_unchanged(where, rng):
    A = sparse.random_array((50, 50), density=0.1, random_state=rng, format="csr")
    again = csr_on_host(csr_on_device(A, where), A.shape)
    np.testing.assert_array_equal(again.toarray(), A.toarray())


def test_a_graph_of_pairs_is_symmetric_and_keeps_signs(graph):
    signed = torch.where(graph.negative, -graph.values, graph.values)
    dense = dense_of(graph, signed)
    assert torch.equal(dense, dense.T)
    assert bool((dense < 0).any())
    assert len(graph.values) == 2 * int(torch.count_nonzero(torch.triu(dense, 1))) + len(dense)
    assert bool((graph.rows.diff() >= 0).all())


def test_a_bipartite_graph_holds_a_matrix_and_its_transpose(where):
    rows, columns = torch.tensor([0, 2, 1], device=where), torch.tensor([1, 0, 2], device=where)
    values = torch.tensor([0.5, -2.0, 3.0], device=where)
    graph = TorchGraph.bipartite(rows, columns, values, 3)
    K = torch.zeros((3, 3), device=where)
    K[rows, columns] = values
    signed = torch.where(graph.negative, -graph.values, graph.values)
    expected = torch.cat([torch.cat([0 * K, K], 1), torch.cat([K.T, 0 * K], 1)])
    assert torch.equal(dense_of(graph, signed), expected)
    places = set(zip(graph.rows.tolist(), graph.columns.tolist(), strict=True))
    assert {(0, 3), (3, 0), (1, 4), (2, 5)} <= places
    assert len(graph.values) == 2 * (3 + 3)
    assert torch.equal(graph.indptr[:-1], torch.searchsorted(graph.rows, graph.rows.unique()).int())
