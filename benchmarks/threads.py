"""How fits gain from threads: 40,000 points in 400 dimensions, 20 clusters.

    python benchmarks/threads.py 1 4 16

Every number of threads runs in a process of its own. Prints the median seconds of three fits, the
seconds of the steps of the last one, and the speed relative to the first number of threads. Beside
it is that of the bare half product of all points in float32, which shows what the machine allows.
"""

import json
import os
import statistics
import subprocess
import sys
import time

VARIABLES = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def measure():
    """Print what this process takes, as JSON."""
    from scale import bare_product_seconds

    import dssc

    options = {"n_subspaces": 20, "dimension": 10, "n_features": 400, "noise": 1.5}
    X, y = dssc.make_union_of_subspaces(40_000, random_state=0, **options)
    model = dssc.ADSSC(20, eta1=10.0, n_neighbors=14, random_state=0).fit(X[:6000])  # compiles
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        model.fit(X)
        seconds.append(time.perf_counter() - start)
    accuracy = dssc.clustering_accuracy(y, model.labels_)
    X = X.astype("float32")
    product = min(bare_product_seconds(X) for _ in range(3))
    print(json.dumps([statistics.median(seconds), product, model.timings_, accuracy]))


def main(counts):
    """Print one row per number of threads."""
    print("| threads | seconds | efficiency | product | efficiency | ACC | steps |")
    print("|---" * 7 + "|")
    first: list[float] = []
    for count in counts:
        environment = {**os.environ, **dict.fromkeys(VARIABLES, count)}
        command = [sys.executable, __file__, "--measure"]
        done = subprocess.run(command, env=environment, check=True, text=True, capture_output=True)
        *seconds, timings, accuracy = json.loads(done.stdout)
        work = [int(count) * value for value in seconds]
        first = first or work
        efficiency, ceiling = (one / many for one, many in zip(first, work, strict=True))
        steps = {step: round(value, 2) for step, value in timings.items()}
        print(
            f"| {count} | {seconds[0]:.2f} | {efficiency:.0%} | {seconds[1]:.2f} | {ceiling:.0%} "
            f"| {accuracy:.3f} | {steps} |",
            flush=True,
        )


if __name__ == "__main__":
    measure() if sys.argv[1:] == ["--measure"] else main(sys.argv[1:] or ["1", "2"])
