import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(
    params=["torch", pytest.param("cuda", marks=pytest.mark.cuda)],
)
def device(request):
    """Return a name that `device=` takes: torch on the CPU, and a GPU where there is one."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU")
    return request.param


@pytest.fixture
def where(device):
    return torch.device("cpu" if device == "torch" else "cuda")


@pytest.fixture
def graph(where):
    """Return a symmetric graph with rows of very different lengths."""
    from dssc.engines.torch.graph import TorchGraph

    generator = torch.Generator().manual_seed(0)
    n = 150
    dense = torch.rand((n, n), generator=generator, dtype=torch.float64) - 0.5
    share = torch.linspace(0.02, 0.9, n)[:, None] * torch.linspace(0.02, 0.9, n)
    held = torch.triu(torch.rand((n, n), generator=generator) < share, 1)
    i, j = torch.nonzero(held, as_tuple=True)
    return TorchGraph.of_pairs(i.to(where), j.to(where), dense[i, j].to(where), n)
