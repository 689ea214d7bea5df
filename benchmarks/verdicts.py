"""The study behind `dssc.verdict`: verdicts beside the truth, on data of many fields and on noise.

    python benchmarks/verdicts.py [names]

Data sets are those of `selection_data.py`, with ``DSSC_DATA`` naming their folder, and made ones.
"noise n d k" are n normal points in d dimensions, in k clusters. "blobs s" are five centres in ten
dimensions with normal noise of standard deviation s. "stray" are clean subspaces with one percent
of noise among their points.

    python benchmarks/verdicts.py --noise [seeds]

counts the verdicts on sets of noise of four kinds, with random numbers of points and clusters, one
for every seed from one number to the next. The rules were set with seeds 2000 to 2060.
"""

import sys
import warnings
from collections import Counter

import numpy as np
from selection_data import load

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces

NOISE = (
    "noise 60 5 3", "noise 100 20 5", "noise 300 2 2", "noise 300 3 3", "noise 300 10 4",
    "noise 500 100 20", "noise 1000 2 4", "noise 1000 10 2", "noise 1000 200 100", "noise 2000 5 8",
    "blobs 2.0",
)  # fmt: skip
MADE = ("blobs 0.5", "blobs 1.0", "stray", "noisy", "dependent", "many", "short", "close",
        "directions")  # fmt: skip
REAL = (
    "iris", "wine", "breast cancer", "vowel", "segment", "satellite", "yale", "warp_ar10p",
    "lymphoma", "worm_neurons", "pbmc68k", "isolet", "banking77", "cifar10_efficientnet", "digits",
    "uneven digits", "usps20", "orl", "umist", "yaleb", "coil40", "mnist, 5000",
)  # fmt: skip


def data(name):
    """Return points, their classes and a number of clusters."""
    rng = np.random.default_rng(0)
    kind, *numbers = name.split()
    if kind == "noise":
        n, d, k = map(int, numbers)
        return rng.normal(size=(n, d)), None, k
    if kind == "blobs":
        y = rng.integers(0, 5, 600)
        X = rng.normal(size=(5, 10))[y] + float(numbers[0]) * rng.normal(size=(600, 10))
        return X, y, 5
    if name == "stray":
        X, y = make_union_of_subspaces(3000, n_subspaces=6, noise=0.2, random_state=0)
        X[::100] = rng.normal(size=(30, X.shape[1]))
        return X, y, 6
    X, y = load(name)
    return X, y, len(np.unique(y))


def line(name):
    """Return a line of the table."""
    X, y, k = data(name)
    model = ADSSC(k, random_state=0).fit(X)
    verdict = model.summary()
    stability, separation = verdict.evidence.stability, verdict.evidence.separation
    accuracy = "" if y is None else f"{clustering_accuracy(y, model.labels_):.2f}"
    proved = "" if separation is None else f"{separation.n_proved} of {separation.n_pairs}"
    scores = f"{stability.mean:.2f} | {stability.chance:.2f} | {proved} | {verdict.kind}"
    return f"| {name} | {X.shape[0]:,} | {k} | {accuracy} | {scores} |"


def random_noise(seed):
    """Return a kind of noise, and the verdict on it."""
    rng = np.random.default_rng(seed)
    n, d, k = (
        int(rng.integers(60, 400)),
        int(rng.choice([2, 3, 5, 10, 30])),
        int(rng.integers(2, 9)),
    )
    kind = str(rng.choice(["normal", "uniform", "skewed", "stretched"]))
    X = {
        "normal": rng.normal(size=(n, d)),
        "uniform": rng.uniform(size=(n, d)),
        "skewed": rng.exponential(size=(n, d)) - 1,
        "stretched": rng.normal(size=(n, d)) * np.geomspace(1, 0.1, d),
    }[kind]
    return kind, ADSSC(k, random_state=0).fit(X).summary().kind


def main(names):
    """Print a table."""
    warnings.simplefilter("ignore")
    if names[:1] == ["--noise"]:
        first, last = map(int, names[1:] or (3000, 3060))
        for (kind, verdict), count in sorted(
            Counter(map(random_noise, range(first, last))).items()
        ):
            print(f"{kind}: {count} {verdict}")
        return
    print("| data | points | k | ACC | stability | without clusters | proved separate | verdict |")
    print("|---|---|---|---|---|---|---|---|")
    for name in names or (*NOISE, *MADE, *REAL):
        print(line(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
