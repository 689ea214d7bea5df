"""Doubly stochastic subspace clustering.

The public names are imported on first use, so that ``import dssc`` is instant and does not load
numpy, scikit-learn or numba.
"""

# ruff: noqa: F403, F405

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dssc.approximate_graphs import *
    from dssc.datasets import *
    from dssc.estimators import *
    from dssc.expression import *
    from dssc.features import *
    from dssc.images import *
    from dssc.metrics import *
    from dssc.spectral import *
    from dssc.stochastic import *

__version__ = "0.2.0"

# The public names. Each is defined in one of the modules below.
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
    "GraphClustering",
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
    "missed_similarity",
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

# The modules with public names, in the order in which they are searched: quick imports first.
_MODULES = (
    "images",
    "metrics",
    "datasets",
    "features",
    "expression",
    "spectral",
    "stochastic",
    "approximate_graphs",
    "estimators",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module_name in _MODULES:
            module = import_module(f"dssc.{module_name}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'dssc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
