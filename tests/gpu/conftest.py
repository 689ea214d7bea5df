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
