"""Engines: where and how the steps of a fit are computed.

A fit picks its engine once, with `engine_in_use`, and passes it down. What an engine must offer is
declared in :mod:`dssc.engines.protocol`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from dssc._devices import is_dask, torch_device
from dssc.engines.cpu import CpuEngine
from dssc.engines.protocol import AffinityGraph, Engine, SelfExpression

__all__ = ["AffinityGraph", "CpuEngine", "Engine", "SelfExpression", "engine_for", "engine_in_use"]


@contextmanager
def engine_in_use(
    device: str | None, X: Any, checkpoint: str | PathLike[str] | None = None
) -> Iterator[Engine]:
    """Yield the engine of `engine_for`; its device is the current one inside the block."""
    engine = engine_for(device, X, checkpoint)
    with engine.in_use():
        yield engine


def engine_for(device: str | None, X: Any, checkpoint: str | PathLike[str] | None = None) -> Engine:
    """Return the engine for a device, or for the place where X lives when `device` is None.

    `checkpoint` names a folder for results of parts of the search, for a Dask array.
    """
    if is_dask(X):
        if device not in (None, "cpu", "cuda", "torch"):
            raise ValueError(
                f"device={device!r} cannot be used for a Dask array; use 'cuda' for the GPU that "
                "each worker sees, 'torch', 'cpu' or None"
            )
        return _engine_for_chunks(None if device == "cpu" else device, checkpoint)
    if checkpoint is not None:
        raise ValueError(
            f"checkpoint={checkpoint!r} needs X as a Dask array; use dask.array.from_array(X), or "
            "checkpoint=None"
        )
    place = torch_device(device, X)
    if place is None:
        return CpuEngine()
    from dssc.engines.torch.engine import TorchEngine

    return TorchEngine(place)


def _engine_for_chunks(device: str | None, checkpoint: str | PathLike[str] | None) -> Engine:
    """Return the engine for a Dask array: its workers, or one device if there are none."""
    from dssc.engines.dask.engine import DaskEngine, active_client

    if device is None or active_client() is not None:
        return DaskEngine(checkpoint, device)
    if checkpoint is not None:
        raise ValueError(
            f"checkpoint={checkpoint!r} with device={device!r} needs workers, and no client of "
            "distributed is active; start one, or use checkpoint=None"
        )
    from dssc.engines.dask.one_device import OneDeviceEngine

    return OneDeviceEngine(torch_device(device, None))
