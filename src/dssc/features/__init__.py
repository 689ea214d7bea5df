"""From images to X, the features that are clustered."""

from dssc.features.affine import homogeneous, typical_norm
from dssc.features.distinct import DistinctRows, distinct_rows
from dssc.features.pca import pca_features
from dssc.features.scaling import (
    are_orthogonal,
    check_no_zero_rows,
    check_not_orthogonal,
    unit_norm,
)
from dssc.features.scattered import scattered_features
from dssc.features.scattering import scattering_features

__all__ = [
    "DistinctRows",
    "are_orthogonal",
    "check_no_zero_rows",
    "check_not_orthogonal",
    "distinct_rows",
    "homogeneous",
    "pca_features",
    "scattered_features",
    "scattering_features",
    "typical_norm",
    "unit_norm",
]
