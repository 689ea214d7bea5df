"""From images to X, the features that are clustered."""

from dssc.features.affine import homogeneous, typical_norm
from dssc.features.pca import pca_features
from dssc.features.scaling import check_no_zero_rows, check_not_orthogonal, unit_norm
from dssc.features.scattered import scattered_features
from dssc.features.scattering import scattering_features

__all__ = [
    "check_no_zero_rows",
    "check_not_orthogonal",
    "homogeneous",
    "pca_features",
    "scattered_features",
    "scattering_features",
    "typical_norm",
    "unit_norm",
]
