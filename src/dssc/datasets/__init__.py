"""Synthetic data, and loaders of the paper's data sets."""

from dssc.datasets.deformed import make_deformed_digits
from dssc.datasets.digits import fetch_emnist_letters, fetch_mnist
from dssc.datasets.faces import fetch_orl, fetch_umist, fetch_yaleb
from dssc.datasets.objects import fetch_coil
from dssc.datasets.synthetic import make_union_of_subspaces

__all__ = [
    "fetch_coil",
    "fetch_emnist_letters",
    "fetch_mnist",
    "fetch_orl",
    "fetch_umist",
    "fetch_yaleb",
    "make_deformed_digits",
    "make_union_of_subspaces",
]
