"""The package's inner loops, compiled by numba.

A kernel is a flat loop over typed arrays that writes into arrays of its caller and checks nothing.
Threads share the rows; each row, and each sum, is computed by one thread in a fixed order. So the
results have the same bits for any number of threads. Compiled code is cached on disk.

The projection's kernels work on a symmetric sparse matrix in CSR form (`indptr`, `indices`,
`values`) with one potential per row. The slack of an entry is ``values[i, j] - (w[i] + w[j])``. The
parentheses matter: with them the slacks (i, j) and (j, i) are the same floating point number.
Without them the dual's gradient is not the gradient of any function, and a line search stalls.

The kernels of the shared stages are exported here. Those of a single method are imported from
`atoms`, `elastic`, `pursuit`, `joint` and `coupling`. :mod:`dssc.kernels.reference` holds a plain
NumPy version of every kernel, against which the tests compare it.
"""

from numba import get_num_threads as n_threads

from dssc.kernels.compiling import python_threads_worth, threads_worth
from dssc.kernels.graph import breadth_first_order, chebyshev_step
from dssc.kernels.lists import (
    find_pairs,
    group_by_row,
    list_degrees,
    list_graph,
    listed_above,
    merge_rows,
)
from dssc.kernels.projection import (
    active_pattern,
    row_sums,
    row_thresholds,
    slacks,
    solve_pattern,
    weighted_row_sums,
    weighted_row_thresholds,
)
from dssc.kernels.scan import (
    keep_largest,
    keep_listed,
    list_candidates,
    mark_above,
    paired_products,
    shorten_lists,
)
from dssc.kernels.scattering import filtered_moduli, half_spectrum, smooth
from dssc.kernels.selection import top_k, top_k_columns

__all__ = [
    "active_pattern",
    "breadth_first_order",
    "chebyshev_step",
    "filtered_moduli",
    "find_pairs",
    "group_by_row",
    "half_spectrum",
    "keep_largest",
    "keep_listed",
    "list_candidates",
    "list_degrees",
    "list_graph",
    "listed_above",
    "mark_above",
    "merge_rows",
    "n_threads",
    "paired_products",
    "python_threads_worth",
    "row_sums",
    "row_thresholds",
    "shorten_lists",
    "slacks",
    "smooth",
    "solve_pattern",
    "threads_worth",
    "top_k",
    "top_k_columns",
    "weighted_row_sums",
    "weighted_row_thresholds",
]
