"""A symmetric projection in extended precision, by looking at all entries."""

import numpy as np


def exact_projection(K, eta2, start=None, n_steps=200):
    """Return the projection of a small symmetric K in extended precision, and its marginal error.

    Newton's method on the dual with halved steps, on the whole matrix. The result is judged by its
    own row sums: they are one up to the error returned, whatever the start was. Entries below the
    rounding of their slack are zero: where potentials are not unique, a slack may end at zero, and
    rounding decides on which side of it.
    """
    K, ones = K.astype(np.longdouble), np.ones(len(K), dtype=np.longdouble)
    alpha = (K.max(axis=1) - eta2) / 2 if start is None else start.astype(np.longdouble)

    def plan(alpha):
        return np.maximum(K - alpha[:, None] - alpha, 0) / eta2

    def dual(A, alpha):
        return -2 * alpha.sum() - eta2 * (A**2).sum() / 2

    A = plan(alpha)
    for _ in range(n_steps):
        excess = A @ ones - 1
        if np.abs(excess).max() < 1e-17:
            break
        S = (A > 0).astype(float)
        H = np.diag(S.sum(axis=1) + 1e-14) + S
        step = eta2 * np.linalg.lstsq(H, excess.astype(float), rcond=1e-12)[0]
        for _ in range(60):
            after = plan(alpha + step)
            if np.abs(excess).max() < 1e-9 or dual(after, alpha + step) > dual(A, alpha):
                break
            step = step / 2
        alpha, A = alpha + step, after
    largest = np.abs(K).max() + np.abs(alpha).max()
    A = np.where(4 * np.finfo(np.longdouble).eps * largest / eta2 < A, A, 0)
    return A, float(np.abs(A @ ones - 1).max())
