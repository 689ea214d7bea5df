"""Data: generators and the loader of prepared files."""

from dssc.datasets.prepared import load_prepared
from dssc.datasets.synthetic import make_union_of_subspaces

__all__ = ["load_prepared", "make_union_of_subspaces"]
