"""The joint model's loops, compiled by numba.

Every row is worked on by one thread in a fixed order, so results do not depend on their number.
"""

from numba import njit, prange

_parallel = njit(parallel=True, cache=True, nogil=True, error_model="numpy")


@_parallel
def linearized_step(C_p, C_q, A, rows, columns, tau, rho, eta1, eta2, eta3, gradient, row_sums):
    """Take the proximal step in C_p and C_q and minimise over A, (first_lin) to (first_min).

    `gradient` holds the descent direction of C and is overwritten by the new ``C_p - C_q``;
    `rows` and `columns` hold the two parts of ``Lambda_1 + rho Y - rho A``.
    """
    n = len(C_p)
    shrink = 1.0 / (1.0 + tau * eta1)
    scale = 1.0 / (eta1 * eta2 * eta2 + rho)
    pull = eta1 * eta2
    for i in prange(n):
        total = 0.0
        for j in range(n):
            if i == j:
                p = 0.0
                q = 0.0
            else:
                step = tau * gradient[i, j]
                drift = tau * (pull * A[i, j] - eta3)
                old_p = C_p[i, j]
                old_q = C_q[i, j]
                p = max(0.0, shrink * (old_p + step - tau * eta1 * old_q + drift))
                q = max(0.0, shrink * (old_q - step - tau * eta1 * old_p + drift))
            a = max(0.0, scale * (pull * (p + q) + rho * A[i, j] + rows[i] + columns[j]))
            C_p[i, j] = p
            C_q[i, j] = q
            A[i, j] = a
            gradient[i, j] = p - q
            total += a
        row_sums[i] = total
