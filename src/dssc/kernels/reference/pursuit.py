"""One step of orthogonal matching pursuit for many samples."""

import numpy as np

from dssc._typing import Array
from dssc.kernels.pursuit import DEPENDENT
from dssc.kernels.reference.csr import dense


def pursue(
    X: Array,
    targets: Array,
    own: Array,
    rows: Array,
    products: Array,
    errors: Array,
    damping: float,
    prior_indptr: Array,
    prior_indices: Array,
    prior_values: Array,
    tol: float,
    factors: Array,
    support: Array,
    coefficients: Array,
    sizes: Array,
    residuals: Array,
    unfinished: Array,
) -> None:
    """Add one atom to the support of each of the samples `rows`, and solve again."""
    prior = dense(prior_indptr, prior_indices, prior_values, (len(targets), len(X)))
    unfinished[:] = False
    for q, i in enumerate(rows):
        atoms = support[i, : sizes[i]]
        scores = np.abs(X @ residuals[i] + damping * prior[i])
        scores[atoms] = 0.0
        if own[i] >= 0:
            scores[own[i]] = 0.0
        best = scores.argmax()
        if scores[best] == 0.0 or _is_dependent(X[best], X[atoms], damping):
            continue
        support[i, sizes[i]] = best
        sizes[i] += 1
        atoms = support[i, : sizes[i]]
        gram = X[atoms] @ X[atoms].T + damping * np.eye(len(atoms))
        c = np.linalg.solve(gram, X[atoms] @ targets[i] + damping * prior[i, atoms])
        coefficients[i, : sizes[i]] = c
        residuals[i] = targets[i] - c @ X[atoms]
        unfinished[q] = np.linalg.norm(residuals[i]) > tol * np.linalg.norm(targets[i])


def _is_dependent(atom: Array, atoms: Array, damping: float) -> bool:
    """Return whether the pivot of an atom, after the others, is nearly zero."""
    gram, products = atoms @ atoms.T + damping * np.eye(len(atoms)), atoms @ atom
    square = atom @ atom + damping
    return bool(square - products @ np.linalg.solve(gram, products) <= DEPENDENT * square)
