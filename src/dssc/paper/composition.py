"""Clusterings of a given self-expression: by its own affinity, post-processed or projected."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dssc._typing import Array, Matrix
from dssc.paper.postprocessing import keep_largest, low_rank_affinity
from dssc.result import ProjectionResult
from dssc.spectral import assign_labels, spectral_embedding
from dssc.stochastic import ProjectionProblem, project_to_neighbors


@dataclass(frozen=True)
class Composition:
    """What the paper's protocol needs to know of a clustering, named as in the estimators.

    Attributes
    ----------
    n_clusters : int
        Number of clusters.
    representation_matrix_ : ndarray of shape (n_samples, n_samples)
        The self-expression, without the entries that post-processing drops.
    affinity_matrix_ : ndarray or sparse matrix of shape (n_samples, n_samples)
        The affinity.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        Its leading eigenvectors.
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    projection_ : ProjectionResult or None
        The projection, if the affinity is one.
    """

    n_clusters: int
    representation_matrix_: Array
    affinity_matrix_: Matrix
    embedding_: Array
    labels_: Array
    projection_: ProjectionResult | None = None


def cluster_representation(
    C: Array, n_clusters: int, affinity: str, parameters: dict[str, Any], n_init: int, seed: int
) -> Composition:
    """Cluster the samples that a matrix expresses by each other.

    Parameters
    ----------
    C : ndarray of shape (n_samples, n_samples)
        The self-expression.
    n_clusters : int
        Number of clusters.
    affinity : {"symmetric", "postprocessed", "doubly_stochastic"}
        ``(|C| + |C|') / 2``; DSC-Net's post-processing; or the projection of the first one without
        its diagonal onto the doubly stochastic matrices.
    parameters : dict
        `share`, `dimension` and `power` of the post-processing, or `n_neighbors` of the projection.
    n_init : int
        Starts of k-means.
    seed : int
        Seed of k-means and of the eigensolver's start.
    """
    projection = None
    A: Matrix
    if affinity == "postprocessed":
        C = keep_largest(C, parameters["share"])
        A = low_rank_affinity(C, n_clusters, parameters["dimension"], parameters["power"])
    elif affinity == "doubly_stochastic":
        C = C - np.diag(np.diag(C))
        problem = ProjectionProblem.of_matrix(_symmetric(C))
        projection = project_to_neighbors(problem, parameters["n_neighbors"])
        A = projection.plan
    else:
        A = _symmetric(C)
    U = spectral_embedding(A, n_clusters, random_state=seed)
    labels = assign_labels(
        U, n_clusters, n_init=n_init, similarity=_symmetric(C), random_state=seed
    )
    return Composition(n_clusters, C, A, U, labels, projection)


def _symmetric(C: Array) -> Array:
    return (np.abs(C) + np.abs(C).T) / 2
