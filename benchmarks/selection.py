"""Parameters without labels: how close the defaults of A-DSSC come to the best of a grid.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --fit [name ...]
    python benchmarks/selection.py --keep FOLDER --table

The first command fits every point of a grid, with as many eigenvectors as clusters and with the
default, fading ones, and keeps accuracies, labels and what rules judge them by, a file a point as
soon as it is done: started again, it goes on where it stopped. The second fits `ADSSC(k)` and
`ADSSC(None)`. The third prints the tables, and judges variants of the rule leave-one-out: for each
data set the variant that is best on all others.
"""

import json
import sys
import time
import warnings
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np

# Fixed here, so that what is kept stays valid when the rule changes.
ETA1, N_NEIGHBORS = (0.1, 1.0, 10.0, 100.0), (4, 6, 8, 12)
STARTS = 8
CELLS = tuple(product(ETA1, N_NEIGHBORS))

SYNTHETIC = {
    "few, noisy": {"n_samples": 400, "n_subspaces": 2, "dimension": 6, "noise": 0.4},
    "noisy": {"n_samples": 600, "n_subspaces": 6, "dimension": 4, "n_features": 30, "noise": 0.5},
    "dependent": {"n_samples": 1000, "n_subspaces": 10, "dimension": 5, "n_features": 15},
    "many": {"n_samples": 1200, "n_subspaces": 30, "n_features": 60, "noise": 0.3},
    "crowded": {"n_samples": 800, "n_subspaces": 16, "dimension": 4, "n_features": 16,
                "noise": 0.3},
    "noisier": {"n_samples": 600, "n_subspaces": 6, "dimension": 4, "n_features": 30, "noise": 1.0},
    "large dimension": {"n_samples": 900, "n_subspaces": 6, "dimension": 12, "n_features": 40,
                        "noise": 0.5},
    "short": {"n_samples": 300, "n_subspaces": 20, "dimension": 3, "n_features": 30, "noise": 0.5},
}  # fmt: skip
UNEVEN = (400, 200, 100, 50, 30)
# A name ends in the classes that are taken, as a slice, where not all are.
PAPER = ("orl", "umist", "umist, scattered", "yaleb", "yaleb, scattered", "coil40",
         "coil40, scattered", "mnist, 5000", "emnist, 10000", "mnist, 10000", "coil100, scattered",
         "coil100")  # fmt: skip
OTHERS = ("wine", "digits", "digits, scattered", "orl, scattered", "uneven", "few, noisy", "noisy",
          "dependent", "many")  # fmt: skip
SUBSETS = (
    "orl [1::2]", "orl, scattered [20:]", "umist [10:]", "umist, scattered [1::2]",
    "yaleb [20:30]", "yaleb [1::2]", "yaleb, scattered [10:20]", "yaleb, scattered [1::2]",
    "coil100 [:20]", "coil100 [20:40]", "coil100, scattered [:20]", "coil100, scattered [80:]",
    "mnist, 3000 [3:8]", "emnist, 4000 [3:9]", "digits [:6]", "digits, scattered [4:]",
)  # fmt: skip
# The rule was settled before these were looked at.
HELD_OUT = (
    "breast cancer", "crowded", "noisier", "large dimension", "short",
    "orl [::2]", "orl, scattered [:20]", "umist [:10]", "umist, scattered [::2]",
    "yaleb [:10]", "yaleb [10:20]", "yaleb, scattered [:10]", "yaleb, scattered [20:30]",
    "coil100 [40:60]", "coil100 [60:80]", "coil100 [80:]", "coil100, scattered [40:60]",
    "coil100, scattered [60:80]", "mnist, 2000 [:5]", "mnist, 3000 [5:]", "emnist, 4000 [:6]",
    "emnist, 4000 [6:]", "deformed", "yaleb [::2]", "yaleb, scattered [::2]",
)  # fmt: skip
# What `ADSSC` does; `variants` says what the parts mean.
THE_RULE = (("agreement", "residual"), (1.0, 10.0, 0.1), (6, 12), (6, 12, 8, 4), 8)
GROUPS = {"the paper's": PAPER, "others": OTHERS, "subsets": SUBSETS, "held out": HELD_OUT}


def load(name):
    """Return X and y of a data set, or of some of its classes."""
    whole, _, classes = name.rstrip("]").partition(" [")
    X, y = _load(whole)
    if classes:
        some = np.unique(y)[slice(*(int(end) if end else None for end in classes.split(":")))]
        X, y = X[np.isin(y, some)], y[np.isin(y, some)]
    return X, y


@cache
def _load(name):
    import dssc

    if name in SYNTHETIC:
        return dssc.make_union_of_subspaces(random_state=1, **SYNTHETIC[name])
    if name == "uneven":
        options = {"n_subspaces": 5, "dimension": 4, "n_features": 30, "noise": 0.3}
        X, y = dssc.make_union_of_subspaces(2000, random_state=2, **options)
        kept = [np.flatnonzero(y == c)[:size] for c, size in enumerate(UNEVEN)]
        return X[np.concatenate(kept)], y[np.concatenate(kept)]
    if name == "deformed":
        images, y = dssc.make_deformed_digits(3000, random_state=0)
        return dssc.scattered_features(images), y
    if name in ("wine", "breast cancer", "digits"):
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
        return (X if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0)), y
    return _images(name)


def _images(name):
    import dssc

    base, _, kind = name.partition(", ")
    if base == "digits":
        from sklearn.datasets import load_digits

        digits = load_digits()
        return dssc.scattered_features((255 / 16 * digits.images).astype(np.uint8)), digits.target
    fetch = {
        "yaleb": dssc.fetch_yaleb, "orl": dssc.fetch_orl, "umist": dssc.fetch_umist,
        "coil40": partial(dssc.fetch_coil, n_objects=40), "coil100": dssc.fetch_coil,
        "mnist": dssc.fetch_mnist, "emnist": dssc.fetch_emnist_letters,
    }[base]  # fmt: skip
    if not kind or name == "umist, scattered":
        return fetch(return_X_y=True, **({"scattered": True} if kind else {}))
    data = fetch()
    X = dssc.scattered_features(data.images, min(500, len(data.images)))
    if kind == "scattered":
        return X, data.target
    rows = np.random.default_rng(0).choice(len(X), int(kind), replace=False)
    return X[rows], data.target[rows]


def study(name, folder):
    """Fit the points of the grid that the folder does not hold yet."""
    from dssc import ADSSC, clustering_accuracy
    from dssc.estimators.choosing import residuals
    from dssc.graph import count_components

    cells = {cell: folder / "{:g}_{}.npz".format(*cell) for cell in CELLS}
    if all(path.exists() for path in cells.values()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load(name)
    k = len(np.unique(y))
    model = ADSSC(k, warm_start=True, random_state=0)
    for (eta1, n_neighbors), path in cells.items():
        if path.exists():
            continue
        start = time.perf_counter()
        model.set_params(eta1=eta1, n_neighbors=n_neighbors, n_components=k).fit(X)
        plain = clustering_accuracy(y, model.labels_)
        model.set_params(n_components=None).fit(X)
        accuracy = clustering_accuracy(y, model.labels_)
        model.set_params(n_init=1)
        labels = [model._labels_from(seed) for seed in range(STARTS)]
        model.set_params(n_init=10)
        write(
            path, k=k, n=len(y), plain=plain, accuracy=accuracy, labels=labels,
            accuracies=[clustering_accuracy(y, some) for some in labels],
            residuals=residuals(X, labels, k), pieces=count_components(model.affinity_matrix_),
        )  # fmt: skip
        print(f"{name} ({eta1:g}, {n_neighbors}): {plain:.3f} {accuracy:.3f}, "
              f"{time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip


def write(path, **arrays):
    """Write a file that is either whole or not there."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    part.rename(path)


def fit_defaults(name, folder):
    """Fit without any parameter but the number of clusters, and without that."""
    from dssc import ADSSC, clustering_accuracy

    folder.mkdir(parents=True, exist_ok=True)
    X, y = load(name)
    k = len(np.unique(y))
    model, seconds = timed(ADSSC(k, random_state=0), X)
    best = model.candidates_[0]
    given = ADSSC(k, eta1=best.eta1, n_neighbors=best.n_neighbors, random_state=0)
    given, seconds_given = timed(given, X)
    counted, seconds_counted = timed(ADSSC(None, random_state=0), X)
    found = {
        "rule": clustering_accuracy(y, model.labels_), "chosen": (best.eta1, best.n_neighbors),
        "given": clustering_accuracy(y, given.labels_), "seconds": (seconds, seconds_given),
        "estimate": (counted.n_clusters_, counted.cluster_evidence_, seconds_counted),
    }  # fmt: skip
    (folder / "fit.json").write_text(json.dumps(found))
    print(f"{name}: {found}", flush=True)


def timed(model, X):
    """Return a fitted model and the seconds it took."""
    start = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - start


class Kept:
    """What the folder holds of a data set."""

    def __init__(self, name, folder):
        from dssc.estimators.choosing import pairwise_agreements

        found = [np.load(folder / "{:g}_{}.npz".format(*cell)) for cell in CELLS]
        self.name, self.n, self.k = name, int(found[0]["n"]), int(found[0]["k"])
        self.plain = max(float(one["plain"]) for one in found)
        self.faded = max(float(one["accuracy"]) for one in found)
        self.best = max(self.plain, self.faded)
        self.accuracies = np.concatenate([one["accuracies"] for one in found])
        self.residuals = np.concatenate([one["residuals"] for one in found])
        self.pieces = np.repeat([int(one["pieces"]) for one in found], STARTS)
        labels = np.concatenate([one["labels"] for one in found])
        self.pairs = pairwise_agreements(labels, self.k)
        fit = folder / "fit.json"
        self.fit = json.loads(fit.read_text()) if fit.exists() else None

    @property
    def rule(self):
        """The accuracy of the fit, or where there is none what the rule picks from the grid."""
        return self.fit["rule"] if self.fit else self.ratio(THE_RULE) * self.best

    @property
    def family(self):
        """The images behind it."""
        return self.name.partition(" [")[0].partition(",")[0].replace("coil40", "coil100")

    def ratio(self, variant):
        """Return the accuracy of what a variant of the rule picks, relative to the best."""
        from dssc.estimators.choosing import ranked

        judges, eta1s, first, counts, n_starts = variant
        if first:
            eta1s = [max(eta1s, key=lambda eta1: self.stability(eta1, first, n_starts))]
        some = np.concatenate([places(eta1, q, n_starts) for eta1 in eta1s for q in counts])
        agreements = self.pairs[np.ix_(some, some)].sum(axis=1) / (len(some) - 1)
        scores = agreements * ("agreement" in judges), self.residuals[some] * ("residual" in judges)
        best = ranked(*scores, self.pieces[some] > self.k)[0]
        return self.accuracies[some[best]] / self.best

    def stability(self, eta1, counts, n_starts):
        """Return how well starts of k-means on one graph agree, in the mean over graphs."""
        graphs = [places(eta1, count, n_starts) for count in counts]
        return sum(self.pairs[np.ix_(some, some)].sum() for some in graphs)


def places(eta1, count, n_starts):
    """Return where the clusterings of a point of the grid are."""
    return STARTS * CELLS.index((eta1, count)) + np.arange(n_starts)


def variants():
    """Return rules to compare.

    What ranks clusterings, the values of eta1, the numbers of neighbours that eta1 is chosen by
    (none: it is ranked with the rest), the numbers that are ranked, and the starts of k-means.
    """
    return list(product(
        (("agreement", "residual"), ("agreement",), ("residual",)),
        ((1.0, 0.1), (1.0, 10.0, 0.1), (1.0, 10.0, 0.1, 100.0)),
        ((), (6, 12), (6, 8), (4, 6, 8, 12)),
        ((6, 8, 4), (6, 12, 8), (6, 12, 8, 4)),
        (4, 8),
    ))  # fmt: skip


def table(folder):
    """Print what was kept, and the leave-one-out judgement."""
    kept = {
        name: Kept(name, folder / name)
        for name in (*PAPER, *OTHERS, *SUBSETS, *HELD_OUT)
        if all((folder / name / "{:g}_{}.npz".format(*cell)).exists() for cell in CELLS)
    }
    seen = [data for name, data in kept.items() if name not in HELD_OUT]
    rules = variants()
    ratios = np.array([[data.ratio(rule) for rule in rules] for data in seen])
    left_out = {}
    for data, own in zip(seen, ratios, strict=True):
        others = [i for i, other in enumerate(seen) if other.family != data.family]
        left_out[data.name] = own[ratios[others].mean(axis=0).argmax()]
    print("| data | n | k | best, k eigenvectors | best, fading | the rule | chosen | ratio "
          "| left out | seconds (parameters given) | k estimated (evidence) |")  # fmt: skip
    print("|---" * 11 + "|")
    for data in kept.values():
        print_row(data, left_out.get(data.name))
    for title, names in GROUPS.items():
        print_summary(title, [kept[name] for name in names if name in kept], left_out)
    means = ratios.mean(axis=0)
    print(f"\nbest variant on all but the held-out: {rules[means.argmax()]}, {means.max():.3f}; "
          f"the median of {len(rules)} variants has {np.median(means):.3f}")  # fmt: skip


def print_summary(title, group, left_out):
    """Print the means of a group of data sets."""
    found = [data.rule / data.best for data in group]
    out = [left_out[data.name] for data in group if data.name in left_out]
    for what, some in (("the rule", found), ("left out", out)):
        if some:
            print(f"\n{title}, {what}: {len(some)} sets, mean ratio {np.mean(some):.3f}, "
                  f"worst {min(some):.3f}")  # fmt: skip
    factors = [abs(np.log(data.fit["estimate"][0] / data.k)) for data in group if data.fit]
    if factors:
        n_exact, n_near = np.sum(np.less(factors, 1e-9)), np.sum(np.less(factors, np.log(1.2001)))
        print(f"number of clusters: {n_exact} exact, {n_near} within a fifth, of {len(factors)}; "
              f"off by a factor of {np.exp(np.mean(factors)):.2f} in the geometric mean, "
              f"{np.exp(max(factors)):.2f} at worst")  # fmt: skip


def print_row(data, left_out):
    """Print a line of the table."""
    row = [data.name, data.n, data.k, f"{data.plain:.3f}", f"{data.faded:.3f}", f"{data.rule:.3f}"]
    out = "" if left_out is None else f"{left_out:.3f}"
    chosen = seconds = estimate = ""
    if data.fit:
        chosen = "({:g}, {})".format(*data.fit["chosen"])
        seconds = "{:.1f} ({:.1f})".format(*data.fit["seconds"])
        estimate = "{} ({:.2f})".format(*data.fit["estimate"])
    row += [chosen, f"{data.rule / data.best:.3f}", out, seconds, estimate]
    print("| " + " | ".join(map(str, row)) + " |")


def main(arguments):
    """Study the data sets named, or print the tables."""
    folder = Path(arguments.pop(arguments.index("--keep") + 1))
    arguments.remove("--keep")
    if arguments == ["--table"]:
        return table(folder)
    warnings.simplefilter("ignore")
    work = fit_defaults if "--fit" in arguments else study
    names = [name for name in arguments if name != "--fit"]
    for name in names or (*OTHERS, *SUBSETS, *HELD_OUT, *PAPER):
        work(name, folder / name)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
