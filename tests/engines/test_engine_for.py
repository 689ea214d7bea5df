from contextlib import contextmanager

import numpy as np
import pytest

from dssc.engines import CpuEngine, engine_for

X = np.eye(3)


@pytest.mark.parametrize("device", [None, "cpu"])
def test_arrays_are_for_the_cpu_engine(device):
    assert isinstance(engine_for(device, X), CpuEngine)


def test_the_torch_engine_can_be_asked_for():
    torch = pytest.importorskip("torch")
    from dssc.engines.torch.engine import TorchEngine

    engine = engine_for("torch", X)
    assert isinstance(engine, TorchEngine)
    assert engine.device == torch.device("cpu")


def test_a_tensor_in_main_memory_is_for_the_cpu_engine():
    torch = pytest.importorskip("torch")
    assert isinstance(engine_for(None, torch.eye(3)), CpuEngine)


@pytest.mark.cuda
def test_a_tensor_on_a_gpu_is_for_the_torch_engine():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    assert engine_for(None, torch.eye(3, device="cuda")).device.type == "cuda"


@pytest.mark.parametrize("device", ["gpu", "tpu", "torch:0", "CPU", 0])
def test_an_unknown_device_is_refused_by_name(device):
    with pytest.raises(ValueError, match=f"device={device!r} must be 'cpu', 'cuda'"):
        engine_for(device, X)


def test_kernels_run_on_the_gpu_of_the_engine_in_every_thread(monkeypatch):
    torch = pytest.importorskip("torch")
    from dssc.engines.torch.engine import TorchEngine

    entered = []

    @contextmanager
    def device(place):
        entered.append(str(place))
        yield

    monkeypatch.setattr(torch.cuda, "device", device)
    engine = TorchEngine(torch.device("cuda:1"))
    with engine.in_use():
        result = engine.aside(lambda: 3)
    assert result() == 3
    assert entered == ["cuda:1", "cuda:1"]


@pytest.mark.parametrize("device", ["cpu", "torch"])
def test_an_error_of_a_call_beside_others_is_raised_where_it_is_waited_for(device):
    if device == "torch":
        pytest.importorskip("torch")

    def fail():
        raise MemoryError("too large")

    with pytest.raises(MemoryError, match="too large"):
        engine_for(device, X).aside(fail)()
