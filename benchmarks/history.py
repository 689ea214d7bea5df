"""Quick benchmarks as ratios to a floor, kept so that a regression shows.

    python -m benchmarks.history [case ...] [--file benchmarks/history.jsonl]

Each case runs in a process of its own and prints seconds divided by those of something measured
beside it: a bare product, a peer, or another path of dssc. Lower is better. Ratios are appended to
the file, one line per run, with the version, the commit and the machine. A ratio above `WORSE`
times the median of the last runs on the same machine is marked, and the exit status is then 1.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

# A ratio this many times the median of earlier runs is a regression: beyond the usual noise.
WORSE = 1.25
# Earlier runs that a ratio is compared with.
N_EARLIER = 9
# How often each side of a ratio is measured, in turns; the fastest counts.
N_ROUNDS = 3


def fastest(*functions):
    """Return the least seconds of each function, called in turns after a first call."""
    seconds = [[] for _ in functions]
    for function in functions:
        function()
    for _ in range(N_ROUNDS):
        for times, function in zip(seconds, functions, strict=True):
            start = time.perf_counter()
            function()
            times.append(time.perf_counter() - start)
    return [min(times) for times in seconds]


def points(n, n_features, n_subspaces=10, dimension=8, noise=1.0):
    """Return points near subspaces."""
    import dssc

    return dssc.make_union_of_subspaces(
        n,
        n_subspaces=n_subspaces,
        dimension=dimension,
        n_features=n_features,
        noise=noise,
        random_state=0,
    )[0].astype("float32")


def fit():
    """Divide a matrix-free fit by the float32 product of one half of all pairs."""
    import dssc
    from benchmarks.scale import bare_product_seconds

    X = points(12_000, 300)
    model = dssc.ADSSC(10, eta1=1.0, n_neighbors=12, random_state=0)
    ours, product = fastest(lambda: model.fit(X), lambda: bare_product_seconds(X))
    return ours / product


def second_eta2():
    """Divide a second fit, with eta2 half larger and `warm_start`, by the first."""
    import dssc

    X = points(12_000, 300)
    given = {"eta1": 1.0, "random_state": 0}
    eta2 = dssc.ADSSC(10, n_neighbors=12, **given).fit(X).eta2_

    def seconds_of(*values):
        model = dssc.ADSSC(10, warm_start=True, **given)
        start = time.perf_counter()
        for value in values:
            start = time.perf_counter()
            model.set_params(eta2=value).fit(X)
        return time.perf_counter() - start

    rounds = [(seconds_of(eta2, 1.5 * eta2), seconds_of(eta2)) for _ in range(N_ROUNDS)]
    return min(second for second, _ in rounds) / min(first for _, first in rounds)


def low_dimension():
    """Divide a matrix-free fit in 36 dimensions by a dense one of fewer points, scaled by n^2."""
    import dssc

    model = dssc.ADSSC(6, eta1=1.0, n_neighbors=12, random_state=0)
    X = points(5_000, 36, n_subspaces=6, dimension=4, noise=0.3)
    free, dense = fastest(lambda: model.fit(X), lambda: model.fit(X[:1_900]))
    return free / dense / (5_000 / 1_900) ** 2


def many_clusters():
    """Divide a fit with 100 clusters by scikit-learn's SpectralClustering."""
    from sklearn.cluster import SpectralClustering

    import dssc

    X = points(3_000, 128, n_subspaces=100, dimension=4, noise=0.3)
    model = dssc.ADSSC(100, eta1=1.0, n_neighbors=12, random_state=0)
    peer = SpectralClustering(100, affinity="nearest_neighbors", random_state=0, n_jobs=-1)
    ours, theirs = fastest(lambda: model.fit(X), lambda: peer.fit(X))
    return ours / theirs


def choice():
    """Divide `ADSSC(10)` on the digits by a fit with the values that it chose."""
    from sklearn.datasets import load_digits

    import dssc

    X = load_digits().data
    model = dssc.ADSSC(10, random_state=0).fit(X)
    chosen = {"eta1": model.eta1_, "eta2": model.eta2_, "signed": model.signed_}
    given = dssc.ADSSC(10, random_state=0, **chosen)
    default, fitted = fastest(lambda: model.fit(X), lambda: given.fit(X))
    return default / fitted


def scattering():
    """Divide scattering by its inverse transforms alone, by SciPy."""
    import numpy as np
    from scipy import fft

    import dssc

    images = np.random.default_rng(0).random((256, 32, 32)).astype("float32")
    # Inverse transforms of the maps of one image, 48 x 48 with its border: (number, side).
    sides = ((8, 48), (72, 24), (136, 12))
    maps = [np.ones((256 * number, side, side), dtype=np.complex64) for number, side in sides]
    ours, floor = fastest(
        lambda: dssc.scattering_features(images, n_jobs=1),
        lambda: [fft.ifft2(stack, workers=1) for stack in maps],
    )
    return ours / floor


def first_fit():
    """Divide the first fit after an installation, which compiles, by the second one."""
    import dssc

    X = points(5_000, 100)
    model = dssc.ADSSC(10, eta1=1.0, eta2=0.01, random_state=0)
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        model.fit(X)
        seconds.append(time.perf_counter() - start)
    return seconds[0] / seconds[1]


CASES = (fit, second_eta2, low_dimension, many_clusters, choice, scattering, first_fit)


def measured(name):
    """Return the ratio of a case, from a fresh process; `first_fit` finds no compiled code."""
    with tempfile.TemporaryDirectory() as empty:
        environment = {**os.environ, "NUMBA_CACHE_DIR": empty} if name == "first_fit" else None
        command = [sys.executable, "-m", "benchmarks.history", "--measure", name]
        done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE)
    return float(done.stdout)


def earlier_ratios(lines, name, machine):
    """Return the last ratios of a case on a machine, oldest first."""
    runs = [json.loads(line) for line in lines]
    known = [run["ratios"].get(name) for run in runs if run["machine"] == machine]
    return [ratio for ratio in known if ratio is not None][-N_EARLIER:]


def is_worse(ratio, earlier):
    """Return whether a ratio is a regression, given those of earlier runs."""
    return bool(earlier) and ratio > WORSE * statistics.median(earlier)


def machine():
    """Return the processor and the number of its cores that this process sees."""
    model = platform.processor() or platform.machine()
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
    return f"{model}, {os.cpu_count()} cores"


def commit():
    """Return the commit of the checkout, with a plus if files differ from it, or None."""
    try:
        options = {"capture_output": True, "text": True, "check": True}
        name = subprocess.run(["git", "rev-parse", "--short", "HEAD"], **options).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain"], **options).stdout
    except (OSError, subprocess.CalledProcessError):
        return None
    return f"{name}+" if changed else name


def main(names, file):
    """Measure cases, print them beside the earlier runs, and append a line to the file."""
    import dssc

    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    here, ratios, any_worse = machine(), {}, False
    print("| case | ratio | median before | |\n|---|---|---|---|")
    for name in names:
        ratio = ratios[name] = round(measured(name), 3)
        earlier = earlier_ratios(lines, name, here)
        worse = is_worse(ratio, earlier)
        any_worse |= worse
        before = f"{statistics.median(earlier):.2f}" if earlier else "none"
        print(f"| {name} | {ratio:.2f} | {before} | {'WORSE' if worse else ''} |", flush=True)
    run = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
        "version": dssc.__version__,
        "commit": commit(),
        "machine": here,
        "ratios": ratios,
    }
    with file.open("a") as history:
        history.write(json.dumps(run) + "\n")
    return 1 if any_worse else 0


if __name__ == "__main__":
    known = {case.__name__: case for case in CASES}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(known))
    parser.add_argument("--file", type=Path, default=Path(__file__).parent / "history.jsonl")
    parser.add_argument("--measure", choices=known, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    unknown = set(arguments.cases) - set(known)
    if unknown:
        parser.error(f"unknown case {sorted(unknown)[0]!r}; known are {', '.join(known)}")
    if arguments.measure:
        print(known[arguments.measure]())
        sys.exit()
    sys.exit(main(arguments.cases or list(known), arguments.file))
