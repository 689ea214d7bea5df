"""The steps of a fit on the CPU."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from dssc._devices import as_array
from dssc._progress import Progress
from dssc._typing import Array, Matrix
from dssc.engines.cpu.self_expression import FactoredExpression, MatrixExpression
from dssc.engines.protocol import AffinityGraph, SelfExpression, T
from dssc.expression import LeastSquaresFactor, least_squares_representation
from dssc.expression.dictionary import Dictionary
from dssc.features import check_no_zero_rows, unit_norm
from dssc.joint import solve_joint
from dssc.spectral import embedding_from
from dssc.spectral.fading import eigenvalues_of
from dssc.spectral.labels import clusterings_of_embedding, labels_of_embedding
from dssc.stochastic import Search, largest_similarities

# From this many samples on, with more samples than features, no n x n matrix is made. Both ways
# take the same time for 2,000, whatever the number of features; see `benchmarks/matrix_free.py`.
MATRIX_FREE_FROM = 2000


class CpuEngine:
    """Implements :class:`dssc.engines.protocol.Engine`."""

    solve_joint = staticmethod(solve_joint)

    def in_use(self) -> AbstractContextManager[Any]:
        """Return a context that changes nothing."""
        return nullcontext()

    def aside(self, call: Callable[[], T]) -> Callable[[], T]:
        """Make a call at once, since it would take threads from the next steps."""
        result = call()
        return lambda: result

    def check(self, X: Any) -> Any:
        """Return a tensor as an array, and anything else unchanged."""
        return as_array(X)

    def check_model(self, eta3: float, symmetric: bool, weighted: bool) -> None:
        """Refuse weights with an l1 penalty."""
        if eta3 > 0 and weighted:
            raise ValueError(f"sample_weight needs eta3=0, not eta3={eta3!r}")

    def express(
        self,
        X: Any,
        eta1: float,
        symmetric: bool,
        signed: bool,
        progress: Progress,
        weights: Array | None = None,
    ) -> SelfExpression:
        """Express samples by least squares, in the form that suits their number."""
        X = as_array(X)
        n, d = X.shape
        if n >= MATRIX_FREE_FROM and n > d:
            check_no_zero_rows(X)
            return FactoredExpression(
                X, eta1, symmetric, signed, progress, self.search_for, weights
            )
        with progress.stage("self-expression"):
            C = least_squares_representation(unit_norm(X.astype(np.float64)), eta1, weights)
            return MatrixExpression(C, symmetric, signed, weights)

    def search_for(self, factor: LeastSquaresFactor) -> Search:
        """Return the search of all pairs of a factor's vectors."""
        return largest_similarities

    def dictionary(self, X: Matrix) -> Dictionary:
        """Return samples of unit norm as a dictionary in main memory."""
        return Dictionary(X)

    def embed(
        self,
        graph: AffinityGraph,
        n_clusters: int,
        n_components: int | None,
        n_exact: int | None,
        rng: np.random.RandomState,
    ) -> Array:
        """Return the leading eigenvectors of an affinity."""
        sizes = n_clusters, n_components, n_exact
        return embedding_from(graph.start, graph.affinity, *sizes, rng)

    def eigenvalues(self, graph: AffinityGraph, vectors: Array) -> Array:
        """Return the eigenvalues of an affinity that belong to eigenvectors of unit norm."""
        return eigenvalues_of(vectors, graph.affinity, graph.expression.weights)

    def assign(
        self,
        graph: AffinityGraph,
        embedding: Array,
        n_clusters: int,
        method: str,
        n_init: int,
        rng: np.random.RandomState,
    ) -> Array:
        """Return a label for every row of an embedding."""
        expression = graph.expression
        arguments = method, n_init, expression.similarities, rng, expression.weights
        return labels_of_embedding(embedding, n_clusters, *arguments)

    def clusterings(
        self,
        graph: AffinityGraph,
        embedding: Array,
        n_clusters: int,
        n_starts: int,
        rng: np.random.RandomState,
    ) -> list[Array]:
        """Return the labels of each of several starts of k-means."""
        expression = graph.expression
        arguments = n_starts, expression.similarities, rng, expression.weights
        return clusterings_of_embedding(embedding, n_clusters, *arguments)
