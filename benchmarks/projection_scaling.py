"""How the projection's time grows: with n for a dense K, with the entries of a sparse one.

    python benchmarks/projection_scaling.py [--largest N]

Dense: similarities of points of ten 5-dimensional subspaces, as D4 of the paper, n from 1,000 up.
Sparse: random symmetric graphs of 20 entries a row and one entry of weight on the diagonal, so that
the answer stays sparse. Medians of three runs to 1e-8; the exponent is a least-squares fit of
logarithms.
"""

import argparse
import time

import numpy as np
from scipy import sparse

import dssc


def dense_problem(n):
    """Return K and eta2 of the paper's D4 at another size, for about as many neighbours."""
    X, _ = dssc.make_union_of_subspaces(
        n, n_subspaces=10, dimension=5, n_features=15, random_state=0
    )
    return np.abs(dssc.least_squares_representation(dssc.unit_norm(X), 1.0)), 0.01 * 4000 / n


def sparse_problem(n):
    """Return a random sparse symmetric K and an eta2."""
    rng = np.random.default_rng(0)
    rows = np.repeat(np.arange(n), 10)
    K = sparse.csr_array((rng.random(10 * n), (rows, rng.integers(0, n, 10 * n))), shape=(n, n))
    return sparse.csr_array(K + K.T + 0.5 * sparse.eye_array(n)), 0.1


def seconds(K, eta2):
    """Return the median time of three projections, and the last result."""
    times = []
    for _ in range(3):
        start = time.perf_counter()
        result = dssc.project_doubly_stochastic(K, eta2)
        times.append(time.perf_counter() - start)
    return float(np.median(times)), result


def measure(title, problem, sizes, count):
    """Print a table and the fitted exponent."""
    print(
        f"\n| {title} | entries | seconds | Newton steps | marginal error |\n|---|---|---|---|---|"
    )
    points = []
    for n in sizes:
        K, eta2 = problem(n)
        time_taken, result = seconds(K, eta2)
        points.append((count(K), time_taken))
        print(
            f"| {n:,} | {points[-1][0]:,} | {time_taken:.3f} | {result.n_iter} "
            f"| {result.marginal_error:.0e} |",
            flush=True,
        )
    slope = np.polyfit(*np.log(np.array(points)).T, 1)[0]
    print(f"\ntime grows like entries^{slope:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--largest", type=int, default=16_000)
    largest = parser.parse_args().largest
    dssc.project_doubly_stochastic(np.random.default_rng(0).random((300, 300)), 0.1)
    dense_sizes = [n for n in (1_000, 2_000, 4_000, 8_000, 16_000) if n <= largest]
    measure("dense n", dense_problem, dense_sizes, lambda K: K.size)
    sparse_sizes = [n for n in (10_000, 30_000, 100_000, 300_000, 1_000_000) if n <= 60 * largest]
    measure("sparse n", sparse_problem, sparse_sizes, lambda K: K.nnz)
