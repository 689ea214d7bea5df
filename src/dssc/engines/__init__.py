"""Engines: where and how the steps of a fit are computed.

A fit picks its engine once, with `engine_for`, and passes it down. What an engine must offer is
declared in :mod:`dssc.engines.protocol`.
"""

from typing import Any

from dssc._devices import torch_device
from dssc.engines.cpu import CpuEngine
from dssc.engines.protocol import AffinityGraph, Engine, SelfExpression

__all__ = ["AffinityGraph", "CpuEngine", "Engine", "SelfExpression", "engine_for"]


def engine_for(device: str | None, X: Any) -> Engine:
    """Return the engine for a device, or for the place where X lives when `device` is None."""
    place = torch_device(device, X)
    if place is None:
        return CpuEngine()
    from dssc.engines.torch.engine import TorchEngine

    return TorchEngine(place)
