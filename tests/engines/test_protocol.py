"""Classes that implement a protocol have its methods, with the same parameters."""

import inspect

import numpy as np
import pytest
from scipy import sparse

from dssc._progress import Progress
from dssc.engines import CpuEngine, Engine, SelfExpression
from dssc.engines.cpu import MatrixExpression
from dssc.engines.cpu.self_expression import FactoredExpression
from dssc.stochastic import Projectable
from dssc.stochastic.dual import Dual, GraphDual
from dssc.stochastic.support import Support

QUIET = Progress()
X = np.random.default_rng(0).standard_normal((30, 5))


def torch_cpu():
    return pytest.importorskip("torch").device("cpu")


def torch_engine():
    device = torch_cpu()
    from dssc.engines.torch.engine import TorchEngine

    return TorchEngine(device)


def dask_engine():
    dask_array = pytest.importorskip("dask.array")
    from dssc.engines.dask.engine import DaskEngine

    return DaskEngine(dask_array.from_array(X))


def matrix_expression():
    return MatrixExpression(X @ X.T)


def factored_expression():
    return FactoredExpression(X, 1.0, True, False, QUIET)


def torch_expression():
    return torch_engine().express(X, 1.0, True, False, QUIET)


def graph_dual():
    return GraphDual(Support(sparse.csr_array(X @ X.T), True).graph, np.ones(30))


def torch_dual():
    device = torch_cpu()
    import torch

    from dssc.engines.torch.dual import TorchDual
    from dssc.engines.torch.graph import TorchGraph

    rows, columns = torch.triu_indices(30, 30, 1, device=device)
    values = torch.ones(len(rows), dtype=torch.float64, device=device)
    return TorchDual(TorchGraph.of_pairs(rows, columns, values, 30))


def members(protocol):
    """Return the public members that a protocol declares."""
    declared = {**protocol.__annotations__, **vars(protocol)}
    return {name: value for name, value in declared.items() if not name.startswith("_")}


def parameters(function):
    """Return names and kinds of a method's parameters."""
    signature = inspect.signature(function)
    return [(p.name, p.kind) for p in signature.parameters.values() if p.name != "self"]


def required(function):
    signature = inspect.signature(function)
    return {p.name for p in signature.parameters.values() if p.default is p.empty} - {"self"}


@pytest.mark.parametrize(
    ("protocol", "make"),
    [
        (Engine, CpuEngine),
        (Engine, torch_engine),
        (Engine, dask_engine),
        (SelfExpression, matrix_expression),
        (SelfExpression, factored_expression),
        (SelfExpression, torch_expression),
        (Projectable, lambda: matrix_expression().problem),
        (Projectable, lambda: factored_expression().problem),
        (Projectable, lambda: torch_expression().problem),
        (Dual, graph_dual),
        (Dual, torch_dual),
    ],
)
def test_every_member_is_there_with_the_same_parameters(protocol, make):
    implementation = make()
    for name, declared in members(protocol).items():
        assert hasattr(implementation, name), name
        if inspect.isfunction(declared):
            method = getattr(implementation, name)
            assert parameters(method) == parameters(declared), name
            assert required(method) <= required(declared), name


def test_the_check_reads_what_protocols_declare():
    assert {"express", "embed", "assign", "solve_joint"} <= set(members(Engine))
    assert {"problem", "coefficients", "similarities", "weights"} == set(members(SelfExpression))
    assert {"shape", "largest", "largest_entries", "solve", "near_pairs"} == set(
        members(Projectable)
    )
    assert {"targets", "n_vertices", "at", "factorised_solve"} <= set(members(Dual))
