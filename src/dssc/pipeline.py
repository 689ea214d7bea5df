"""The steps of A-DSSC as functions without state: express, project, embed, assign.

    X ──express──▶ C ──affinity_graph──▶ A ──embed──▶ eigenvectors ──assign──▶ labels

Estimators and the selection of parameters both call them, with the engine of the fit.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from dssc._devices import as_array
from dssc._progress import Progress
from dssc._typing import Array
from dssc._warnings import warn_user
from dssc.engines import AffinityGraph, Engine, SelfExpression
from dssc.engines.cpu import MatrixExpression
from dssc.expression import elastic_net_representation
from dssc.features import unit_norm
from dssc.result import ProjectionResult, RepresentationResult
from dssc.spectral import commute_time_embedding, faded, fading_components
from dssc.stochastic import project_to_components, project_to_neighbors

# The value of eta2 that asks for as many connected components as clusters, or fewer.
COMPONENTS = "components"


@dataclass(frozen=True)
class Settings:
    """The parameters of one run; see :class:`dssc.ADSSC` for their meaning.

    `fading` says whether ``n_components=None`` takes more eigenvectors than clusters, with weights
    that fade after as many as there are clusters.
    """

    eta1: float = 1.0
    eta2: float | str | None = None
    eta3: float = 0.0
    n_neighbors: int | None = None
    symmetric: bool = True
    signed: bool = False
    n_components: int | None = None
    fading: bool = False
    assign_labels: str = "kmeans"
    n_init: int = 10
    tol: float = 1e-8
    max_iter: int = 1000

    @property
    def has_fading_components(self) -> bool:
        """Whether more eigenvectors than clusters are taken, with weights that fade."""
        return self.fading and self.n_components is None and self.assign_labels == "kmeans"


def express(
    X: Any,
    settings: Settings,
    engine: Engine,
    progress: Progress,
    weights: Array | None = None,
) -> SelfExpression:
    """Express every row of X, scaled to unit norm, by the others: (minC).

    With weights, of mean one, a row counts as so many copies that do not express each other.
    """
    if settings.eta3 == 0:
        symmetric, signed = settings.symmetric, settings.signed
        return engine.express(X, settings.eta1, symmetric, signed, progress, weights)
    with progress.stage("self-expression"):
        result = elastic_net_representation(
            unit_norm(as_array(X)),
            settings.eta1,
            settings.eta3,
            tol=settings.tol,
            max_iter=settings.max_iter,
            dictionary_of=engine.dictionary,
        )
        check_usable(result, f"eta3={settings.eta3!r} is so large that C is zero; lower eta3")
        return MatrixExpression(result.representation, settings.symmetric, settings.signed)


def check_usable(result: RepresentationResult, complaint: str) -> None:
    """Warn about a self-expression that is not optimal, and refuse one that is zero."""
    if not result.converged:
        warn_user(result.status, ConvergenceWarning)
    if result.representation.nnz == 0:
        raise ValueError(complaint)


def affinity_graph(
    expression: SelfExpression,
    n_clusters: int | None,
    settings: Settings,
    progress: Progress,
    near: ProjectionResult | None = None,
) -> AffinityGraph:
    """Project the similarities onto the doubly stochastic matrices: (jminA).

    eta2 is the one given, or the one that gives the wanted number of neighbours or components.
    `near` is a projection with another number of neighbours to begin with, if there is one.
    """
    problem = expression.problem
    with progress.stage("projection"):
        if settings.eta2 is None:
            assert settings.n_neighbors is not None
            n_neighbors = min(settings.n_neighbors, problem.shape[0] - 1)
            result = project_to_neighbors(
                problem,
                n_neighbors,
                tol=settings.tol,
                max_iter=settings.max_iter,
                near=near,
                progress=progress,
            )
        elif settings.eta2 == COMPONENTS:
            assert n_clusters is not None
            result = project_to_components(
                problem,
                n_clusters,
                tol=settings.tol,
                max_iter=settings.max_iter,
                progress=progress,
            )
        else:
            result = problem.solve(
                float(settings.eta2),
                tol=settings.tol,
                max_iter=settings.max_iter,
                progress=progress,
            )
    if not result.converged:
        warn_user(result.status, ConvergenceWarning)
    return AffinityGraph(sparse.csr_array(result.plan), expression, result)


def embed(
    graph: AffinityGraph,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
    progress: Progress,
) -> Array:
    """Return the leading eigenvectors of the affinity, with their weights if they fade."""
    with progress.stage("eigenvectors"):
        vectors = _eigenvectors(graph, n_clusters, settings, engine, rng)
        if not settings.has_fading_components:
            return vectors
        return faded(vectors, engine.eigenvalues(graph, vectors), n_clusters)


def embed_variously(
    graph: AffinityGraph,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
    progress: Progress,
) -> list[Array]:
    """Return the result of `embed` and, if eigenvectors fade there, two others of the same vectors.

    These are the first eigenvectors, as many as clusters, and all of them scaled by commute times,
    in this order.
    """
    with progress.stage("eigenvectors"):
        vectors = _eigenvectors(graph, n_clusters, settings, engine, rng)
        if not settings.has_fading_components:
            return [vectors]
        eigenvalues = engine.eigenvalues(graph, vectors)
        return [
            faded(vectors, eigenvalues, n_clusters),
            np.ascontiguousarray(vectors[:, :n_clusters]),
            commute_time_embedding(vectors, eigenvalues, graph.expression.weights),
        ]


def _eigenvectors(
    graph: AffinityGraph,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
) -> Array:
    """Return the leading eigenvectors, of which those that fade need not be accurate."""
    if not settings.has_fading_components:
        return engine.embed(graph, n_clusters, settings.n_components, None, rng)
    n_components = fading_components(graph.affinity.shape[0], n_clusters)
    return engine.embed(graph, n_clusters, n_components, n_clusters, rng)


def assign(
    graph: AffinityGraph,
    embedding: Array,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
    progress: Progress,
) -> Array:
    """Return a label for every row of the embedding."""
    method, n_init = settings.assign_labels, settings.n_init
    with progress.stage("labels"):
        return engine.assign(graph, embedding, n_clusters, method, n_init, rng)


def clusterings(
    graph: AffinityGraph,
    embedding: Array,
    n_clusters: int,
    settings: Settings,
    engine: Engine,
    rng: np.random.RandomState,
    progress: Progress,
) -> list[Array]:
    """Return the labels of each of `n_init` starts, or the only ones of a method without chance."""
    if settings.assign_labels != "kmeans":
        return [assign(graph, embedding, n_clusters, settings, engine, rng, progress)]
    with progress.stage("labels"):
        return engine.clusterings(graph, embedding, n_clusters, settings.n_init, rng)
