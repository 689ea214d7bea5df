"""A-DSSC from features to labels as the number of points grows, beside the product it cannot avoid.

    DSSC_DATA=folder python benchmarks/scale.py [n ...] [--peers] [--second]

Points are scattered MNIST, and deformed digits beyond its 70,000. eta1 grows with n and eta2 falls
with it from the paper's values at 70,000, so that the graph keeps its number of neighbours. Each
size runs in a fresh process, kernels compiled before; peak memory is beyond what the process held
with X loaded. The bare product is that of one triangle of tiles, in float32, with nothing kept.
--second only fits, and again with half more eta2, and prints the time of the processor for both;
set the number of threads to one for it.
"""

import json
import os
import resource
import subprocess
import sys
import time

SIZES = (5_000, 10_000, 20_000, 40_000, 70_000, 145_600)
STAGES = ("factor", "scan", "projection", "eigenvectors", "labels")
N_MNIST = 70_000
TILE = 2048


def load(n):
    """Return features and labels of n points."""
    import dssc

    if n <= N_MNIST:
        data = dssc.fetch_mnist()
        X, y = dssc.scattered_features(data.images), data.target
    else:
        images, y = dssc.make_deformed_digits(n, random_state=0)
        X = dssc.scattered_features(images)
    return X[:n], y[:n]


def bare_product_seconds(X):
    """Return the seconds of the products of one triangle of tiles."""
    import numpy as np

    out = np.empty((TILE, TILE), dtype=np.float32)
    start = time.perf_counter()
    for i in range(0, len(X), TILE):
        left = X[i : i + TILE]
        for j in range(i, len(X), TILE):
            right = X[j : j + TILE]
            np.matmul(left, right.T, out=out[: len(left), : len(right)])
    return time.perf_counter() - start


def current_megabytes():
    """Return the resident memory of this process."""
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak_megabytes():
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(n):
    """Fit once, then with a smaller and with a larger eta2."""
    from sklearn.metrics import normalized_mutual_info_score

    import dssc

    X, y = load(n)
    model = dssc.ADSSC(10, n_components=11, warm_start=True, random_state=0)
    model.set_params(eta1=10.0 * n / N_MNIST, eta2=0.001 * N_MNIST / n)
    warm = dssc.make_union_of_subspaces(5000, n_features=500, random_state=0)[0].astype("float32")
    dssc.ADSSC(3, eta2=0.01, random_state=0).fit(warm)
    before, peak_before = current_megabytes(), peak_megabytes()
    products = [bare_product_seconds(X)]
    start = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - start
    products.append(bare_product_seconds(X))
    row = {
        "product": sum(products) / 2,
        "seconds": seconds,
        "timings": model.timings_,
        "megabytes": max(peak_megabytes() - before, 0.0),
        "peak was before": peak_before >= peak_megabytes(),
        "ACC": dssc.clustering_accuracy(y, model.labels_),
        "NMI": normalized_mutual_info_score(y, model.labels_),
        "SPE": dssc.subspace_preserving_error(model.affinity_matrix_, y),
        "NNZ": dssc.nonzeros_per_point(model.affinity_matrix_),
        "reread": model.projection_.n_rescanned,
        "status": model.projection_.status,
    }
    eta2 = model.eta2
    for name, factor in {"smaller": 1 / 1.5, "larger": 1.5}.items():
        start = time.perf_counter()
        model.set_params(eta2=factor * eta2).fit(X)
        row[name] = time.perf_counter() - start
    return row


def measure_second(n):
    """Return the processor's seconds for a fit, and after it for one with half more eta2."""
    import dssc

    X, _ = load(n)
    model = dssc.ADSSC(10, n_components=11, warm_start=True, random_state=0)
    warm = dssc.make_union_of_subspaces(5000, n_features=500, random_state=0)[0].astype("float32")
    for eta2 in (0.01, 0.015):
        model.set_params(eta2=eta2).fit(warm)
    model.set_params(eta1=10.0 * n / N_MNIST)
    seconds = []
    for factor in (1.0, 1.5):
        start = time.process_time()
        model.set_params(eta2=factor * 0.001 * N_MNIST / n).fit(X)
        seconds.append(time.process_time() - start)
    return seconds


def measure_peers(n):
    """Time scikit-learn's spectral clustering and k-means on the same points."""
    from sklearn.cluster import KMeans, SpectralClustering

    import dssc

    X, y = load(n)
    peers = {
        "KMeans": KMeans(10, n_init=10, random_state=0),
        "SpectralClustering": SpectralClustering(
            10, affinity="nearest_neighbors", random_state=0, n_jobs=-1
        ),
    }
    row = {}
    for name, peer in peers.items():
        start = time.perf_counter()
        labels = peer.fit_predict(X)
        row[name] = time.perf_counter() - start, dssc.clustering_accuracy(y, labels)
    return row


def in_fresh_process(*arguments):
    """Return what this file prints when run with the arguments."""
    command = [sys.executable, __file__, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def show_exponents(rows):
    """Print the growth exponent of every stage between the smallest and the largest n."""
    import numpy as np

    sizes = list(rows)
    series = {"product": [rows[n]["product"] for n in sizes]}
    for stage in STAGES:
        series[stage] = [rows[n]["timings"][stage] for n in sizes]
    rest = [rows[n]["seconds"] - rows[n]["timings"]["scan"] for n in sizes]
    series["all but the scan"] = rest
    for name, seconds in series.items():
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        print(f"- {name}: n^{slope:.2f}")


def show_second(sizes):
    """Print what a second, larger eta2 costs."""
    for n in sizes:
        first, second = in_fresh_process("--second-of", n)
        print(f"{n:,}: {first:.2f} s, eta2 x 1.5 {second:.2f} s, {second / first:.1%}", flush=True)


def main(sizes, peers):
    """Print one row of a Markdown table for each size."""
    print(
        "| n | product s | fit s | ratio | "
        + " | ".join(STAGES)
        + " | eta2 / 1.5 | eta2 x 1.5 | MB | ACC | NMI "
        "| SPE | NNZ | rows reread |"
    )
    print("|---" * (14 + len(STAGES) - 1) + "|")
    rows = {}
    for n in sizes:
        row = rows[n] = in_fresh_process("--measure", n)
        stages = " | ".join(f"{row['timings'][stage]:.2f}" for stage in STAGES)
        print(
            f"| {n:,} | {row['product']:.2f} | {row['seconds']:.2f} "
            f"| {row['seconds'] / row['product']:.2f} | {stages} "
            f"| {row['smaller']:.2f} | {row['larger']:.2f} "
            f"| {row['megabytes']:.0f} | {row['ACC']:.4f} | {row['NMI']:.4f} | {row['SPE']:.4f} "
            f"| {row['NNZ']:.2f} | {row['reread']:,} |",
            flush=True,
        )
        print(f"{n}: {row['status']}", file=sys.stderr)
    if len(rows) > 1:
        show_exponents(rows)
    if peers:
        print("\n| n | peer | seconds | ACC |\n|---|---|---|---|")
        for n in sizes:
            for name, (seconds, accuracy) in in_fresh_process("--peers-of", n).items():
                print(f"| {n:,} | {name} | {seconds:.1f} | {accuracy:.4f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(int(sys.argv[2]))))
    elif sys.argv[1:2] == ["--peers-of"]:
        print(json.dumps(measure_peers(int(sys.argv[2]))))
    elif sys.argv[1:2] == ["--second-of"]:
        print(json.dumps(measure_second(int(sys.argv[2]))))
    else:
        chosen = [int(a.replace("_", "")) for a in sys.argv[1:] if not a.startswith("--")]
        if "--second" in sys.argv:
            show_second(chosen or SIZES)
        else:
            main(chosen or SIZES, "--peers" in sys.argv)
