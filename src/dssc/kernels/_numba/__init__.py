"""The kernels compiled by numba.

Every row is summed by one thread in a fixed order and every dot product runs in one thread, so the
results do not depend on the number of threads. Compiled code is cached on disk.
"""

from numba import get_num_threads as n_threads

from dssc.kernels._numba.graph import chebyshev_step, sparse_product
from dssc.kernels._numba.lists import (
    count_listed_above,
    find_sorted,
    group_by_row,
    list_degrees,
    list_graph,
    listed_above,
    mark_held,
    merge_rows,
    pack_rows,
    sort_rows,
)
from dssc.kernels._numba.projection import (
    active_pattern,
    row_sums,
    row_thresholds,
    slacks,
    solve_pattern,
)
from dssc.kernels._numba.scan import (
    keep_largest,
    mark_above,
    paired_products,
    shorten_lists,
    sort_lists,
    split_rows,
    unit_rows,
)
from dssc.kernels._numba.scattering import filter_and_fold
from dssc.kernels._numba.selection import top_k, top_k_columns

__all__ = [
    "active_pattern",
    "chebyshev_step",
    "count_listed_above",
    "filter_and_fold",
    "find_sorted",
    "group_by_row",
    "keep_largest",
    "list_degrees",
    "list_graph",
    "listed_above",
    "mark_above",
    "mark_held",
    "merge_rows",
    "n_threads",
    "pack_rows",
    "paired_products",
    "row_sums",
    "row_thresholds",
    "shorten_lists",
    "slacks",
    "solve_pattern",
    "sort_lists",
    "sort_rows",
    "sparse_product",
    "split_rows",
    "top_k",
    "top_k_columns",
    "unit_rows",
]
