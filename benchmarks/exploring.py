"""What other numbers of clusters cost after a fit, in CPU time relative to the fit.

    python benchmarks/exploring.py

20,000 points of 20 subspaces. Set OMP_NUM_THREADS, OPENBLAS_NUM_THREADS and NUMBA_NUM_THREADS to 1
for the numbers of the documents.
"""

import time

from dssc import ADSSC, make_union_of_subspaces

N_CLUSTERS = 20


def seconds(function, *arguments):
    """Return the CPU seconds of a call."""
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def main():
    """Fit once, and print what each number of clusters costs after it."""
    X, _ = make_union_of_subspaces(
        20_000, n_subspaces=N_CLUSTERS, dimension=5, n_features=40, noise=0.9, random_state=0
    )
    model = ADSSC(N_CLUSTERS, random_state=0)
    model.fit(X)  # compiles
    fit = seconds(model.fit, X)
    print(f"fit                {fit:.2f} s")
    explore = seconds(model.explore, range(2, 16))
    print(f"explore 2 to 15    {explore / fit:.1%} of a fit, {explore / fit / 14:.1%} per number")
    for k in (18, 21, 24, 27, 30, 33, 36, 39):
        print(f"labels_for({k})     {seconds(model.labels_for, k) / fit:.1%} of a fit")


if __name__ == "__main__":
    main()
