"""A Dask array on one device, without workers."""

from typing import Any

from dssc._cluster_rows import copy_to_disk
from dssc._devices import is_dask
from dssc.engines.dask.source import check_source
from dssc.engines.torch.engine import TorchEngine


class OneDeviceEngine(TorchEngine):
    """Copies a Dask array to disk, chunk by chunk, and streams it to the device from there.

    Implements :class:`dssc.engines.protocol.Engine`.
    """

    def check(self, X: Any) -> Any:
        """Return the samples in a file on this machine."""
        return super().check(copy_to_disk(check_source(X)) if is_dask(X) else X)
