"""Which device a run uses, and where its arrays live."""

import sys
from typing import Any

from dssc._cluster_rows import ClusterRows


def is_tensor(X: Any) -> bool:
    """Return whether X is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array, without importing Dask."""
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def is_single(X: Any) -> bool:
    """Return whether an array or a tensor is in single precision."""
    return "float32" in str(X.dtype)


def as_array(X: Any) -> Any:
    """Return a tensor or rows on a cluster as an array here, and anything else unchanged."""
    if isinstance(X, ClusterRows):
        return X.in_memory()
    return X.cpu().numpy() if is_tensor(X) else X


def torch_device(device: str | None, X: Any) -> Any:
    """Return the torch device that a run uses, or None for the CPU engine.

    Parameters
    ----------
    device : str or None
        ``"cpu"`` for the compiled CPU engine; ``"cuda"`` (or ``"cuda:1"``, …) for a GPU;
        ``"torch"`` for the torch engine on the CPU; None for where X lives.
    X : array or tensor
        The data.
    """
    if device is None:
        if not is_tensor(X) or X.device.type == "cpu":
            return None
        device = str(X.device)
    if device == "cpu":
        return None
    if device != "torch" and str(device).split(":")[0] != "cuda":
        raise ValueError(f"device={device!r} must be 'cpu', 'cuda', 'cuda:<number>' or 'torch'")
    try:
        import torch
    except ImportError:
        raise ImportError(
            f"device={device!r} needs PyTorch; install it with: pip install 'dssc[gpu]'"
        ) from None
    if device == "torch":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"device={device!r} needs a CUDA GPU, and torch {torch.__version__} sees none; install "
            "a CUDA build of torch, or use device='cpu'"
        )
    return torch.device(device)
