"""Doubly stochastic subspace clustering.

The public names are imported on first use, so that ``import dssc`` is instant and loads neither
numba nor matplotlib.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dssc.datasets import (
        fetch_coil,
        fetch_emnist_letters,
        fetch_mnist,
        fetch_orl,
        fetch_umist,
        fetch_yaleb,
        make_deformed_digits,
        make_union_of_subspaces,
    )
    from dssc.estimators import ADSSC, JDSSC, LRSC, LSR, S3COMP, SSC, SSCOMP, TSC, EnSC
    from dssc.expression import (
        elastic_net_representation,
        least_squares_representation,
        low_rank_representation,
        omp_representation,
        s3comp_representation,
        thresholded_similarity,
    )
    from dssc.features import (
        pca_features,
        scattered_features,
        scattering_features,
        unit_norm,
    )
    from dssc.images import resize_images
    from dssc.metrics import clustering_accuracy, nonzeros_per_point, subspace_preserving_error
    from dssc.spectral import assign_labels, estimate_n_clusters, spectral_embedding
    from dssc.stochastic import project_doubly_stochastic, quadratic_transport

__version__ = "0.1.0"

_HOMES = {
    "ADSSC": "estimators",
    "JDSSC": "estimators",
    "EnSC": "estimators",
    "LRSC": "estimators",
    "LSR": "estimators",
    "S3COMP": "estimators",
    "SSC": "estimators",
    "SSCOMP": "estimators",
    "TSC": "estimators",
    "assign_labels": "spectral",
    "clustering_accuracy": "metrics",
    "elastic_net_representation": "expression",
    "estimate_n_clusters": "spectral",
    "fetch_coil": "datasets",
    "fetch_emnist_letters": "datasets",
    "fetch_mnist": "datasets",
    "fetch_orl": "datasets",
    "fetch_umist": "datasets",
    "fetch_yaleb": "datasets",
    "least_squares_representation": "expression",
    "low_rank_representation": "expression",
    "make_deformed_digits": "datasets",
    "make_union_of_subspaces": "datasets",
    "nonzeros_per_point": "metrics",
    "omp_representation": "expression",
    "pca_features": "features",
    "project_doubly_stochastic": "stochastic",
    "quadratic_transport": "stochastic",
    "resize_images": "images",
    "s3comp_representation": "expression",
    "scattered_features": "features",
    "scattering_features": "features",
    "spectral_embedding": "spectral",
    "subspace_preserving_error": "metrics",
    "thresholded_similarity": "expression",
    "unit_norm": "features",
}

__all__ = [
    "ADSSC",
    "JDSSC",
    "LRSC",
    "LSR",
    "S3COMP",
    "SSC",
    "SSCOMP",
    "TSC",
    "EnSC",
    "assign_labels",
    "clustering_accuracy",
    "elastic_net_representation",
    "estimate_n_clusters",
    "fetch_coil",
    "fetch_emnist_letters",
    "fetch_mnist",
    "fetch_orl",
    "fetch_umist",
    "fetch_yaleb",
    "least_squares_representation",
    "low_rank_representation",
    "make_deformed_digits",
    "make_union_of_subspaces",
    "nonzeros_per_point",
    "omp_representation",
    "pca_features",
    "project_doubly_stochastic",
    "quadratic_transport",
    "resize_images",
    "s3comp_representation",
    "scattered_features",
    "scattering_features",
    "spectral_embedding",
    "subspace_preserving_error",
    "thresholded_similarity",
    "unit_norm",
]


def __getattr__(name: str):
    if name not in _HOMES:
        raise AttributeError(f"module 'dssc' has no attribute {name!r}")
    return getattr(import_module(f"dssc.{_HOMES[name]}"), name)


def __dir__():
    return sorted([*__all__, "__version__"])
