"""Parameters without labels: how close the defaults of A-DSSC come to the best of a grid.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --fit [name ...]
    python benchmarks/selection.py --keep FOLDER --table

The first command fits every point of a grid, with as many eigenvectors as clusters and with the
default, fading ones, and keeps accuracies, labels and what rules judge them by, a file for each
eta1 as soon as it is done: started again, it goes on where it stopped. The second fits `ADSSC(k)`
and `ADSSC(None)`. The third prints the tables, and judges variants of the rule leave-one-out: for
each data set the variant that is best on all other images.
"""

import json
import sys
import time
import warnings
from functools import cache, partial
from itertools import product
from operator import ne
from pathlib import Path

import numpy as np

# Fixed here, so that what is kept stays valid when the rule changes.
ETA1, N_NEIGHBORS = (0.1, 1.0, 10.0, 100.0), (4, 6, 8, 12)
STARTS = 32
STABLE = 8  # starts that an eta1 is chosen by

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
    "mixed dimensions": {"n_samples": 700, "n_subspaces": 7, "dimension": (2, 3, 4, 5, 6, 8, 10),
                         "n_features": 40, "noise": 0.5},
    "close": {"n_samples": 900, "n_subspaces": 9, "dimension": 5, "n_features": 14, "noise": 0.4},
    "far noise": {"n_samples": 500, "n_subspaces": 4, "n_features": 200, "noise": 1.5},
}  # fmt: skip
UNEVEN = (400, 200, 100, 50, 30)
SMALLEST = 0.2  # of its points the last class keeps, where classes are made uneven
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
# The former rule was settled before these were looked at,
HELD_OUT = (
    "breast cancer", "crowded", "noisier", "large dimension", "short",
    "orl [::2]", "orl, scattered [:20]", "umist [:10]", "umist, scattered [::2]",
    "yaleb [:10]", "yaleb [10:20]", "yaleb, scattered [:10]", "yaleb, scattered [20:30]",
    "coil100 [40:60]", "coil100 [60:80]", "coil100 [80:]", "coil100, scattered [40:60]",
    "coil100, scattered [60:80]", "mnist, 2000 [:5]", "mnist, 3000 [5:]", "emnist, 4000 [:6]",
    "emnist, 4000 [6:]", "deformed", "yaleb [::2]", "yaleb, scattered [::2]",
)  # fmt: skip
# and the present one before these.
FRESH = (
    "iris",
    "uneven digits",
    "uneven digits, scattered",
    "uneven mnist, 3000",
    "uneven coil40",
    "uneven yaleb",
    "mixed dimensions",
    "close",
    "far noise",
    "orl [10:30]",
    "orl, scattered [10:30]",
    "umist [5:15]",
    "umist, scattered [5:15]",
    "yaleb [5:25]",
    "yaleb, scattered [5:25]",
    "yaleb, scattered [28:]",
    "coil100 [::5]",
    "coil100 [3::4]",
    "coil100, scattered [3::4]",
    "mnist, 4000 [::2]",
    "mnist, 4000 [1::2]",
    "emnist, 5000 [::2]",
    "emnist, 5000 [1::3]",
    "deformed [2:8]",
)
# What `ADSSC` does; `variants` says what the parts mean.
THE_RULE = (("residual", "modularity"), (1.0, 10.0, 0.1), (6, 12), (6, 12, 8, 4), 32)
FORMER_RULE = (("agreement", "residual"), (1.0, 10.0, 0.1), (6, 12), (6, 12, 8, 4), 8)
GROUPS = {"the paper's": PAPER, "others": OTHERS, "subsets": SUBSETS, "held out": HELD_OUT,
          "fresh": FRESH}  # fmt: skip


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
    if name.startswith("uneven "):
        return _thinned(*_load(name.removeprefix("uneven ")))
    if name == "deformed":
        images, y = dssc.make_deformed_digits(3000, random_state=0)
        return dssc.scattered_features(images), y
    if name in ("wine", "breast cancer", "iris", "digits"):
        from sklearn import datasets

        X, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
        return (X if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0)), y
    return _images(name)


def _thinned(X, y):
    """Return ever fewer points of the classes."""
    classes = np.unique(y)
    shares = np.geomspace(1.0, SMALLEST, len(classes))
    rows = [np.flatnonzero(y == c) for c in classes]
    rows = [some[: round(share * len(some))] for some, share in zip(rows, shares, strict=True)]
    return X[np.concatenate(rows)], y[np.concatenate(rows)]


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
    paths = {eta1: folder / f"{eta1:g}.npz" for eta1 in ETA1}
    if all(path.exists() for path in paths.values()):
        return
    folder.mkdir(parents=True, exist_ok=True)
    X, y = load(name)
    for eta1, path in paths.items():
        if not path.exists():
            start = time.perf_counter()
            found = study_eta1(X, y, eta1)
            write(path, **found)
            print(f"{name} ({eta1:g}): {found['plain'].max():.3f} {found['accuracy'].max():.3f}, "
                  f"{time.perf_counter() - start:.1f} s", flush=True)  # fmt: skip


def study_eta1(X, y, eta1):
    """Return all that is kept of one eta1: for every number of neighbours, and for every start."""
    from dssc import ADSSC, clustering_accuracy
    from dssc.estimators.choosing import pairwise_agreements, residuals
    from dssc.graph import count_components
    from dssc.spectral.modularity import modularity

    k = len(np.unique(y))
    model = ADSSC(k, eta1=eta1, warm_start=True, random_state=0)
    plain, faded, graphs, labels = [], [], [], []
    for n_neighbors in N_NEIGHBORS:
        model.set_params(n_neighbors=n_neighbors, n_components=k).fit(X)
        plain.append(clustering_accuracy(y, model.labels_))
        model.set_params(n_components=None).fit(X)
        faded.append(clustering_accuracy(y, model.labels_))
        graphs.append(model.affinity_matrix_)
        model.set_params(n_init=1)
        labels += [model._labels_from(seed, model.embedding_) for seed in range(STARTS)]
        model.set_params(n_init=10)
    distinct, which = np.unique(labels, axis=0, return_inverse=True)
    pairs = pairwise_agreements(list(distinct), k) + np.eye(len(distinct))
    return {
        "k": k, "n": len(y), "plain": np.array(plain), "accuracy": np.array(faded),
        "labels": distinct.astype(np.uint8), "which": which.ravel(), "agreements": pairs,
        "pieces": np.array([count_components(graph) for graph in graphs]),
        "accuracies": [clustering_accuracy(y, some) for some in distinct],
        "residuals": residuals(X, list(distinct), k),
        "modularities": [[modularity(graph, some) for graph in graphs] for some in distinct],
    }  # fmt: skip


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
        found = {eta1: dict(np.load(folder / f"{eta1:g}.npz")) for eta1 in ETA1}
        first = found[ETA1[0]]
        self.name, self.n, self.k = name, int(first["n"]), int(first["k"])
        self.plain = max(one["plain"].max() for one in found.values())
        self.faded = max(one["accuracy"].max() for one in found.values())
        self.best = max(self.plain, self.faded)
        self.found = found
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

    def ratio(self, variant, shift=0):
        """Return the accuracy of what a variant of the rule picks, relative to the best.

        Starts are those from the `shift`-th on.
        """
        judges, eta1s, first, counts, n_starts = variant
        one = self.found[max(eta1s, key=lambda eta1: self.standing(eta1, first, shift))]
        graphs = [N_NEIGHBORS.index(count) for count in counts]
        starts = np.concatenate([places(graph, n_starts, shift) for graph in graphs])
        some = one["which"][starts]
        scores = {
            "agreement": -one["agreements"][np.ix_(some, some)].sum(axis=1),
            "residual": one["residuals"][some],
            "modularity": -one["modularities"][np.ix_(some, graphs)].mean(axis=1),
        }
        values = [np.round(scores[judge], 6) for judge in judges]
        ranks = sum(np.searchsorted(np.sort(some), some) for some in values)
        torn = one["pieces"][starts // STARTS] > self.k
        best = np.lexsort((values[-1], ranks, torn))[0]
        return one["accuracies"][some[best]] / self.best

    def standing(self, eta1, counts, shift=0):
        """Return whether a graph holds together, and how well starts agree on those that do."""
        one = self.found[eta1]
        graphs = [N_NEIGHBORS.index(count) for count in counts]
        holding = [graph for graph in graphs if one["pieces"][graph] <= self.k]
        stability = []
        for graph in holding or graphs:
            some = one["which"][places(graph, STABLE, shift)]
            pairs = one["agreements"][np.ix_(some, some)]
            stability.append((pairs.sum() - STABLE) / (STABLE * (STABLE - 1)))
        return bool(holding), round(np.mean(stability), 6)


def places(graph, n_starts, shift):
    """Return where the clusterings of a graph are."""
    return STARTS * graph + shift + np.arange(n_starts)


def variants():
    """Return rules to compare.

    What ranks clusterings, the values of eta1, the numbers of neighbours that eta1 is chosen by,
    the numbers that are ranked, and the starts of k-means.
    """
    return list(product(
        (("agreement",), ("residual",), ("modularity",), ("agreement", "residual"),
         ("agreement", "modularity"), ("residual", "modularity"),
         ("agreement", "residual", "modularity")),
        ((1.0, 0.1), (1.0, 10.0, 0.1), (1.0, 10.0, 0.1, 100.0)),
        ((6,), (12,), (6, 12), (6, 8, 12), (4, 6, 8, 12)),
        ((6, 12), (6, 12, 8), (6, 12, 8, 4)),
        (8, 32),
    ))  # fmt: skip


def neighborhood(rules):
    """Return which variants are a variant itself or differ from it in one part, as weights."""
    differ = np.array([[sum(map(ne, one, two)) for two in rules] for one in rules])
    near = (differ <= 1).astype(float)
    return near / near.sum(axis=1)


def left_out_of(kept, ratios, weights):
    """Return for each data set the ratio of the variant that is best on all other images.

    Twice: of the very best, and of the one that is best together with the variants next to it.
    """
    found = {}
    for data, own in zip(kept, ratios, strict=True):
        others = [i for i, other in enumerate(kept) if other.family != data.family]
        means = ratios[others].mean(axis=0)
        found[data.name] = own[means.argmax()], own[(weights @ means).argmax()]
    return found


def table(folder):
    """Print what was kept, and the leave-one-out judgement."""
    kept = {
        name: Kept(name, folder / name)
        for name in (*PAPER, *OTHERS, *SUBSETS, *HELD_OUT, *FRESH)
        if all((folder / name / f"{eta1:g}.npz").exists() for eta1 in ETA1)
    }
    seen = [data for name, data in kept.items() if name not in FRESH]
    rules = variants()
    ratios = np.array([[data.ratio(rule) for rule in rules] for data in seen])
    left_out = left_out_of(seen, ratios, neighborhood(rules))
    print("| data | n | k | best, k eigenvectors | best, fading | the rule | chosen | ratio "
          "| left out | seconds (parameters given) | k estimated (evidence) |")  # fmt: skip
    print("|---" * 11 + "|")
    for data in kept.values():
        print_row(data, left_out.get(data.name))
    for title, names in GROUPS.items():
        print_summary(title, [kept[name] for name in names if name in kept], left_out)
    means = ratios.mean(axis=0)
    print(f"\nbest variant on all but the fresh: {rules[means.argmax()]}, {means.max():.3f}; "
          f"the median of {len(rules)} variants has {np.median(means):.3f}")  # fmt: skip
    print_repeated(seen)


def print_repeated(kept):
    """Print what rules that need eight starts come to with starts of their own, four times."""
    for judges in (("agreement", "residual"), ("modularity",), ("residual", "modularity")):
        for n_starts in (8, 16, 32):
            rule = (judges, *THE_RULE[1:4], n_starts)
            shifts = range(0, STARTS, n_starts)
            found = [np.mean([data.ratio(rule, shift) for data in kept]) for shift in shifts]
            print(f"{' and '.join(judges)}, {n_starts} starts: " + ", ".join(
                f"{mean:.3f}" for mean in found))  # fmt: skip


def print_summary(title, group, left_out):
    """Print the means of a group of data sets."""
    named = [data.name for data in group if data.name in left_out]
    judged = {
        "the rule": [data.rule / data.best for data in group],
        "the former rule": [data.ratio(FORMER_RULE) for data in group],
        "left out": [left_out[name][0] for name in named],
        "left out, with its neighbourhood": [left_out[name][1] for name in named],
    }
    for what, some in judged.items():
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
    out = "" if left_out is None else "{:.3f}, {:.3f}".format(*left_out)
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
    for name in names or (*OTHERS, *SUBSETS, *HELD_OUT, *FRESH, *PAPER):
        work(name, folder / name)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
