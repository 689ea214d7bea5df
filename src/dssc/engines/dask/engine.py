"""The steps of a fit for a Dask array."""

from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

from dssc._cluster_rows import ClusterRows, copy_to_disk
from dssc._progress import Progress
from dssc._typing import Array
from dssc.engines.cpu import engine as cpu_engine
from dssc.engines.cpu.engine import CpuEngine
from dssc.engines.cpu.self_expression import FactoredExpression
from dssc.engines.dask.checkpoint import Checkpoint, claim_folder, data_key, key_of
from dssc.engines.dask.factor import ClusterFactor
from dssc.engines.dask.reading import ClusterReader
from dssc.engines.dask.source import check_source
from dssc.engines.dask.workers import Workers
from dssc.engines.protocol import SelfExpression
from dssc.expression import LeastSquaresFactor
from dssc.stochastic import FactoredSimilarity, ProjectionProblem, Search, largest_similarities
from dssc.stochastic.scan import Lists, Weights
from dssc.stochastic.scan_parts import LocalRunner, Runner
from dssc.stochastic.tournament import PARTS_VERSION, largest_similarities_by_parts


@dataclass(frozen=True)
class DaskEngine(CpuEngine):
    """Leaves X on the workers of the active client; without one, copies it to disk.

    Workers compute what is of the size of X or larger. Everything else runs in this process, with
    the code of the CPU engine. Results have the same bits as those of the CPU engine.

    Implements :class:`dssc.engines.protocol.Engine`.

    Parameters
    ----------
    checkpoint : path or None
        Folder for results of parts of the search.
    device : {"cuda", "torch"} or None
        Where workers search all pairs: on the GPU that each of them sees, by torch on their
        processors, or by compiled code there.
    """

    checkpoint: str | PathLike[str] | None = None
    device: str | None = None

    def check(self, X: Any) -> Any:
        """Return the samples: on the workers, or in a file on this machine."""
        source = check_source(X)
        samples = copy_to_disk(source) if active_client() is None else ClusterRows(source)
        if self.checkpoint is not None:
            claim_folder(self.checkpoint, data_key(samples))
        return samples

    def express(
        self,
        X: Any,
        eta1: float,
        symmetric: bool,
        signed: bool,
        progress: Progress,
        weights: Array | None = None,
    ) -> SelfExpression:
        """Express samples by least squares: many of them on the workers, few of them here."""
        n, d = X.shape
        if not isinstance(X, ClusterRows) or n < cpu_engine.MATRIX_FREE_FROM or n <= d:
            return super().express(X, eta1, symmetric, signed, progress, weights)
        factor = ClusterFactor(Workers(active_client()), X, eta1, progress, weights)
        search = self._search_on_workers(factor)
        return ClusterExpression(factor, symmetric, signed, search, weights)

    def search_for(self, factor: LeastSquaresFactor) -> Search:
        """Return the search in this process, by parts if these are to be stored."""
        if self.checkpoint is None:
            return largest_similarities

        def search(
            vectors: Array, weights: list[Weights], signed: bool, n_kept: int, progress: Progress
        ) -> list[Lists]:
            run = LocalRunner(vectors, weights)
            return self._search(factor, run, weights, signed, n_kept, progress)

        return search

    def _search_on_workers(self, factor: ClusterFactor) -> Search:
        def search(
            vectors: Any, weights: list[Weights], signed: bool, n_kept: int, progress: Progress
        ) -> list[Lists]:
            run = partial(factor.run_parts, weights, self.device)
            lists = self._search(factor, run, weights, signed, n_kept, progress)
            factor.workers.count_bytes_between()
            work = factor.workers.work
            progress.count("tasks", work.n_tasks)
            progress.count("tasks repeated", work.n_repeated)
            progress.count("bytes received", work.n_bytes)
            progress.count("bytes between workers", work.n_bytes_between)
            progress.note(
                f"{work.n_tasks} tasks, {work.n_repeated} of them repeated; "
                f"{work.n_bytes / 1e6:.1f} MB received, {work.n_bytes_between / 1e6:.1f} MB moved "
                "between workers"
            )
            return lists

        return search

    def _search(
        self,
        factor: Any,
        run: Runner,
        weights: list[Weights],
        signed: bool,
        n_kept: int,
        progress: Progress,
    ) -> list[Lists]:
        """Search by parts, with those that are stored."""
        stored = None
        if self.checkpoint is not None:
            arrays = [factor.norms, *(array for weight in weights for array in weight)]
            parameters = PARTS_VERSION, signed, n_kept, self.device
            run = stored = Checkpoint(self.checkpoint, key_of(*arrays, parameters=parameters), run)
        shape = factor.vectors.shape
        lists = largest_similarities_by_parts(shape, weights, signed, n_kept, progress, run)
        if stored is not None:
            progress.count("parts from the checkpoint", stored.n_read)
        return lists


class ClusterExpression(FactoredExpression):
    """C as products of vectors that workers hold.

    Implements :class:`dssc.engines.protocol.SelfExpression`.
    """

    def __init__(
        self,
        factor: Any,
        symmetric: bool,
        signed: bool,
        search: Search,
        weights: Array | None = None,
    ):
        self.factor, self.weights = factor, weights
        reader = ClusterReader(factor)
        self.K = FactoredSimilarity(factor, symmetric, signed, search, weights, reader)
        self.problem = ProjectionProblem(self.K, weights=weights)


def active_client() -> Any:
    """Return the active client of `distributed`, or None."""
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None
