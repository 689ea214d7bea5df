"""The steps of a fit for a Dask array."""

from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines.cpu import CpuEngine
from dssc.engines.dask.checkpoint import Checkpoint, claim_folder, key_of
from dssc.engines.dask.source import check_source, copy_to_disk
from dssc.engines.dask.workers import WorkerRunner
from dssc.expression import LeastSquaresFactor
from dssc.stochastic import Search, largest_similarities
from dssc.stochastic.scan import Lists, Weights
from dssc.stochastic.scan_parts import LocalRunner, Runner, largest_similarities_by_parts


@dataclass(frozen=True)
class DaskEngine(CpuEngine):
    """Searches all pairs on the workers of the active client, or here if there is none.

    Everything else costs little beside the search. It runs in this process, with the code of the
    CPU engine, on a copy of X on disk. So memory stays bounded and results have the same bits as
    those of the CPU engine.

    Implements :class:`dssc.engines.protocol.Engine`.

    Parameters
    ----------
    source : dask.array.Array of shape (n_samples, n_features)
        The samples.
    checkpoint : path or None
        Folder for results of parts of the search.
    samples : ndarray of shape (n_points,), optional
        The samples that are clustered.
    height : float or None
        Their constant coordinate.
    """

    source: Any
    checkpoint: str | PathLike[str] | None = None
    samples: Array | None = None
    height: float | None = None

    def check(self, X: Any) -> Any:
        """Return a copy of the samples on disk."""
        copy = copy_to_disk(check_source(self.source))
        if self.checkpoint is not None:
            claim_folder(self.checkpoint, key_of(copy))
        return copy

    def for_points(self, samples: Array, height: float | None) -> "DaskEngine":
        """Return the engine for points that are these samples."""
        return replace(self, samples=samples, height=height)

    def search_for(self, factor: LeastSquaresFactor) -> Search:
        """Return the search by parts; for a sample of the points, the one on this machine."""
        if self.samples is None or len(self.samples) != len(factor.norms):
            return largest_similarities

        def search(
            vectors: Array, weights: list[Weights], signed: bool, n_kept: int, progress: Progress
        ) -> list[Lists]:
            run, on_workers = self._runner(factor)
            stored = None
            if self.checkpoint is not None:
                arrays = [array for weight in weights for array in weight]
                key = key_of(vectors, *arrays, parameters=(signed, n_kept))
                run = stored = Checkpoint(self.checkpoint, key, run)
            lists = largest_similarities_by_parts(vectors, weights, signed, n_kept, progress, run)
            progress.note(_summary(on_workers, stored))
            return lists

        return search

    def _runner(self, factor: LeastSquaresFactor) -> tuple[Runner, WorkerRunner | None]:
        """Return what finds candidates: the workers of the active client, or this process."""
        client = active_client()
        if client is None:
            return LocalRunner(factor.vectors), None
        X = check_source(self.source)
        assert self.samples is not None
        if len(self.samples) < X.shape[0]:
            X = X[np.asarray(self.samples)]
        runner = WorkerRunner(client, X, self.height, factor.substitute, factor.order)
        return runner, runner


def active_client() -> Any:
    """Return the active client of `distributed`, or None."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None


def _summary(workers: WorkerRunner | None, stored: Checkpoint | None) -> str:
    """Return a line about the parts of a search."""
    texts = []
    if workers is not None:
        texts.append(
            f"{workers.n_done} parts on workers, {workers.n_repeated} of them repeated, "
            f"{workers.n_bytes / 1e6:.1f} MB received"
        )
    if stored is not None:
        texts.append(f"{stored.n_read} parts from the checkpoint")
    return f"search: {', '.join(texts)}" if texts else ""
