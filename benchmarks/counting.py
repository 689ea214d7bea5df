"""Numbers of clusters that `ADSSC(None)` finds, beside the numbers of classes.

    DSSC_DATA=folder python benchmarks/counting.py [seen] [classes] [made] [noise]

*seen*: the data sets of `selection_data.py`. *classes*: some of the classes of each, which no rule
was chosen on. *made*: blobs of very different size, clusters with a common mean, subspaces, and
directions with different spread; *noise*: data of one cluster, where the answer should be 1 or come
with a warning. Prints a row for each data set, and for each group how often the number is right
(within a fifth), how often it came without a warning, and how often it was right then.
"""

import sys
import warnings

import numpy as np
from selection_data import FIELDS, load

import dssc

CLASSES = (
    "banking77 [0:20]", "banking77 [30:42]", "isolet [0:13]", "isolet [13:21]",
    "cifar10_efficientnet [0:5]", "cifar10_efficientnet [4:8]", "segment [0:4]", "segment [3:7]",
    "satellite [0:3]", "satellite [2:6]", "worm_neurons [0:5]", "worm_neurons [5:10]",
    "pbmc68k [0:6]", "yale [0:8]", "usps20 [0:5]", "usps20 [3:9]", "orl [0:15]", "orl [15:40]",
    "umist [8:20]", "umist, scattered [0:8]", "yaleb [0:5]", "yaleb [15:38]",
    "yaleb, scattered [0:16]", "coil100 [0:30]", "coil100 [10:16]", "coil100, scattered [40:70]",
    "mnist, 5000 [0:4]", "mnist, 5000 [3:10]", "emnist, 10000 [0:6]", "emnist, 10000 [5:13]",
    "digits [0:6]", "digits [4:10]", "orl, scattered [5:25]",
)  # fmt: skip
KINDS = ("blobs", "mean", "subspaces", "directions")
MADE = tuple(f"{kind} {k}" for kind in KINDS for k in (3, 5, 8, 15, 40))
NOISE = tuple(
    f"{kind} {n}"
    for kind in ("5 features", "20 features", "100 features", "common mean", "decaying", "cube",
                 "subspace", "heavy tails")
    for n in (200, 1000)
)  # fmt: skip
GROUPS = {"seen": tuple(FIELDS), "classes": CLASSES, "made": MADE, "noise": NOISE}


def make(name):
    """Return X and y of made data with some number of clusters."""
    kind, count = name.split()
    k, rng = int(count), np.random.default_rng(int(count))
    if kind == "blobs":
        sizes = np.minimum(np.maximum(8, (rng.pareto(1.5, k) + 0.3) * 60), 400).astype(int)
        y = np.repeat(np.arange(k), sizes)
        return 2.2 * rng.normal(size=(k, 10))[y] + rng.normal(size=(len(y), 10)), y
    if kind == "mean":
        y = rng.integers(0, k, 60 * k)
        mean = 2.0 * rng.normal(size=100)
        return 0.5 * rng.normal(size=(k, 100))[y] + rng.normal(size=(len(y), 100)) + mean, y
    if kind == "subspaces":
        size = {"n_subspaces": k, "dimension": 4, "n_features": max(12, int(1.5 * k))}
        return dssc.make_union_of_subspaces(60 * k, **size, noise=0.4, random_state=k)
    y, spread = rng.integers(0, k, 800), rng.uniform(0.3, 0.9, k)
    return rng.normal(size=(k, 30))[y] + spread[y][:, None] * rng.normal(size=(800, 30)), y


def make_noise(name):
    """Return X without clusters, and one class."""
    kind, count = name.rsplit(" ", 1)
    n = int(count)
    rng = np.random.default_rng(n)
    X = {
        "5 features": lambda: rng.normal(size=(n, 5)),
        "20 features": lambda: rng.normal(size=(n, 20)),
        "100 features": lambda: rng.normal(size=(n, 100)),
        "common mean": lambda: rng.normal(size=(n, 50)) + 2 * rng.normal(size=50),
        "decaying": lambda: rng.normal(size=(n, 50)) / np.arange(1, 51),
        "cube": lambda: rng.uniform(size=(n, 8)),
        "subspace": lambda: rng.normal(size=(n, 5)) @ rng.normal(size=(5, 30)),
        "heavy tails": lambda: rng.standard_t(2, size=(n, 20)),
    }[kind]()
    return X, np.zeros(n, dtype=int)


def main(groups):
    """Print a row for each data set, and one for each group."""
    loaders = {"made": make, "noise": make_noise}
    print("| data | n | classes | estimate | evidence | warned |")
    print("|---" * 6 + "|", flush=True)
    for group in groups:
        results = []
        for name in GROUPS[group]:
            X, y = loaders.get(group, load)(name)
            k = len(np.unique(y))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model = dssc.ADSSC(None, random_state=0).fit(X)
            is_warned = any("weak evidence" in str(entry.message) for entry in caught)
            found, evidence = model.n_clusters_, model.cluster_evidence_
            results.append((max(k, found) <= 1.2 * min(k, found), not is_warned))
            warned = "yes" if is_warned else "no"
            print(f"| {name} | {len(X)} | {k} | {found} | {evidence:.2f} | {warned} |", flush=True)
        right, silent = np.array(results).T
        print(
            f"{group}: {right.sum()} of {len(right)} within a fifth; {silent.sum()} without a "
            f"warning, {(right & silent).sum()} of them within a fifth",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:] or GROUPS)
