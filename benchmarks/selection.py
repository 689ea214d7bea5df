"""Parameters without labels: the defaults of A-DSSC beside the best of a grid and scikit-learn.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [--again] [--jobs N] [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --variants [--jobs N] [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --cost [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --transfer [--jobs N] [name ...]
    python benchmarks/selection.py --keep FOLDER --summary

The first command fits a wide grid, `ADSSC(k)` from eight seeds, `ADSSC(None)`, and k-means and
spectral clustering on unit rows; and the sequences of tracked points. A file for each data set is
kept as soon as it is done: started again, it goes on where it stopped, and with `--again` it fits
the defaults again, after a change of the rule. The second fits variants of the rule. The third
measures the seconds of `ADSSC(k)`, of the same with the chosen values given, and of `ADSSC(None)`,
on a machine that should have nothing else to do. The fourth measures how the best setting of the
grid, which is chosen with labels, does on other points of the same data. The last prints the tables
of the study, with each field judged by the variant that is best on all other fields.

Beyond 5,000 points the grid has fewer values, and variants are fitted from one seed.
"""

import argparse
import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import numpy as np
from joblib import Parallel, delayed
from selection_data import FIELDS, OTHERS, PAPER, VECTORS, load, motions

# The grid. Values of eta1 are for 1,000 points; more points have larger ones.
ETA1 = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0, np.inf)
N_NEIGHBORS = (4, 6, 9, 13, 20, 30, 45)
SEEDS = (0, 1, 2)
# Seeds of the defaults, whose accuracy varies by .02 to .05 from one to the next.
RULE_SEEDS = range(8)
# Data sets of more points are studied less thoroughly.
LARGE = 5000
# Variants of the rule: neighbours, their neighbours, and the dimension of a neighbourhood.
VARIANTS = (
    *((3, 5, dimension) for dimension in (7, 8, 9, 10)),
    *((3, 4, dimension) for dimension in (6, 7, 8)),
    *((3, 8, dimension) for dimension in (8, 12, 16)),
    *((2, 8, 8), (4, 4, 8), (5, 3, 8), (4, 8, 12), (6, 8, 16)),
)
MOTION = "motion"
HEADINGS = (
    "data", "n", "k", "ADSSC(k)", "k-means", "spectral", "best of the grid", "ratio", "to peers",
    "chosen eta1, neighbours, signed", "k estimated (evidence)",
    "seconds of ADSSC(k), values given, ADSSC(None)",
)  # fmt: skip


def study_rule(name):
    """Return what the defaults give on one data set."""
    from dssc import ADSSC, clustering_accuracy

    X, y = load(name)
    fits = [ADSSC(len(np.unique(y)), random_state=seed).fit(X) for seed in RULE_SEEDS]
    best = fits[0].candidates_[0]
    counted = ADSSC(None, random_state=0).fit(X)
    return {
        "rule": [clustering_accuracy(y, fit.labels_) for fit in fits],
        "chosen": [best.eta1, best.n_neighbors, best.signed],
        "estimate": [counted.n_clusters_, counted.cluster_evidence_],
    }


def study_others(name, signed):
    """Return what peers and the grid give on one data set."""
    from sklearn.cluster import KMeans, SpectralClustering

    from dssc import clustering_accuracy, unit_norm

    X, y = load(name)
    k = len(np.unique(y))
    unit = unit_norm(X)
    spectral = {"affinity": "nearest_neighbors", "assign_labels": "cluster_qr"}
    peers = [
        KMeans(k, n_init=10, random_state=0),
        SpectralClustering(k, n_neighbors=10, **spectral, random_state=0),
    ]
    return {
        "n": len(y),
        "k": k,
        "peers": [clustering_accuracy(y, peer.fit_predict(unit)) for peer in peers],
        "grid": max(accuracies_of_grid(X, y, k, signed).values()),
    }


def accuracies_of_grid(X, y, k, signed):
    """Return the accuracy of every setting of the grid, with and without fading eigenvectors.

    Every accuracy is the mean over three clusterings, each the best of three starts.
    """
    from dssc import clustering_accuracy
    from dssc._progress import Progress
    from dssc.engines import CpuEngine
    from dssc.pipeline import Settings, affinity_graph, assign, embed, express

    engine, quiet, accuracies = CpuEngine(), Progress(), {}
    is_large = len(y) > LARGE
    counts = N_NEIGHBORS[1::2] if is_large else N_NEIGHBORS
    for eta1 in ETA1[3:] if is_large else ETA1:
        settings = Settings(eta1=eta1 * len(y) / 1000, signed=signed, fading=True, n_init=3)
        expression = express(X, settings, engine, quiet)
        for n_neighbors in (count for count in counts if count < len(y) / 2):
            settings = replace(settings, n_neighbors=n_neighbors)
            graph = affinity_graph(expression, k, settings, quiet)
            arguments = k, settings, engine, np.random.RandomState(0), quiet
            embedding = embed(graph, *arguments)
            for one in (embedding, np.ascontiguousarray(embedding[:, :k])):
                labels = [assign(graph, one, *arguments) for _ in SEEDS]
                setting = eta1, n_neighbors, one is embedding
                accuracies[setting] = mean(clustering_accuracy(y, some) for some in labels)
    return accuracies


def study_transfer(name):
    """Return how the best setting of the grid does on other points of the same data.

    Two random draws have 90 % of the points each. For each draw, the result holds the accuracy of
    the setting that is best on the other draw, and that of the defaults, both relative to the best
    of the grid on this draw.
    """
    from dssc import ADSSC, clustering_accuracy

    X, y = load(name)
    grids, defaults = [], []
    for draw in (1, 2):
        some = np.sort(np.random.default_rng(draw).permutation(len(y))[: int(0.9 * len(y))])
        k = len(np.unique(y[some]))
        fits = [ADSSC(k, random_state=seed).fit(X[some]) for seed in SEEDS]
        defaults.append(mean(clustering_accuracy(y[some], fit.labels_) for fit in fits))
        grids.append(accuracies_of_grid(X[some], y[some], k, fits[0].signed_))
    return [
        [one[max(other, key=other.get)] / max(one.values()), default / max(one.values())]
        for one, other, default in zip(grids, grids[::-1], defaults, strict=True)
    ]


def study_motion():
    """Return the number of motions and the error of every sequence of tracked points."""
    from dssc import ADSSC, clustering_accuracy

    errors = []
    for X, y in motions():
        k = len(np.unique(y))
        fits = [ADSSC(k, affine=True, random_state=seed).fit(X) for seed in SEEDS]
        errors.append([k, 1.0 - mean(clustering_accuracy(y, fit.labels_) for fit in fits)])
    return {"errors": errors}


def study_variants(name):
    """Return the accuracy of every variant of the rule.

    Variants differ in the eta1 they choose, so every eta1 that is chosen is fitted once.
    """
    from dssc import ADSSC, clustering_accuracy
    from dssc.features import distinct_rows
    from dssc.selection import neighborhoods

    X, y = load(name)
    k = len(np.unique(y))
    seeds = SEEDS[:1] if len(y) > LARGE else SEEDS
    points, chosen = X[distinct_rows(X, with_opposites=False).first], []
    for variant in VARIANTS:
        neighborhoods.SMALL = neighborhoods.Shape(*variant)
        chosen.append(neighborhoods.choose_expression(points, k).eta1)
    accuracies = {}
    for eta1 in set(chosen):
        fits = [ADSSC(k, eta1=eta1, random_state=seed).fit(X) for seed in seeds]
        accuracies[eta1] = mean(clustering_accuracy(y, fit.labels_) for fit in fits)
    return [accuracies[eta1] for eta1 in chosen]


def study_cost(name):
    """Return the seconds of a fit by default, with the chosen values given, and without k."""
    from dssc import ADSSC

    X, y = load(name)
    k = len(np.unique(y))
    best = ADSSC(k, random_state=0).fit(X).candidates_[0]  # compiles as well
    given = {"eta1": best.eta1, "signed": best.signed, "n_neighbors": best.n_neighbors}
    models = ADSSC(k, random_state=0), ADSSC(k, **given, random_state=0), ADSSC(None)
    times = [[seconds_of(model, X) for model in models] for _ in SEEDS]
    return [median(column) for column in zip(*times, strict=True)]


def seconds_of(model, X):
    """Return the seconds that a fit takes."""
    start = time.perf_counter()
    model.fit(X)
    return time.perf_counter() - start


STEPS = {"variants": study_variants, "seconds": study_cost, "transfer": study_transfer}


def study_one(name, folder, step):
    """Do one step of the study of a data set, unless it is done."""
    warnings.simplefilter("ignore")
    path = folder / f"{name}.json"
    found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if name == MOTION:
        found = found or study_motion()
    elif not found or step == "again":
        found |= study_rule(name)
        found = found if "grid" in found else found | study_others(name, found["chosen"][2])
    elif step in STEPS and step not in found:
        found[step] = STEPS[step](name)
    path.write_text(json.dumps(found), encoding="utf-8")
    print(name, found, flush=True)


def print_summary(folder):
    """Print a table of the data sets, one of their means, and the errors of the motions."""
    found = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")
    }
    motion = found.pop(MOTION, None)
    print_cells(HEADINGS)
    print("|---" * len(HEADINGS) + "|")
    for name in (name for name in FIELDS if name in found):
        print_row(name, found[name])
    print("\n| | sets | mean ratio | worst | below .98 of the better peer | k within a fifth |")
    print("|---" * 6 + "|")
    for group, names in {"vectors": VECTORS, "paper": PAPER, "others": OTHERS}.items():
        print_means(group, [found[name] for name in names if name in found])
    four = ("orl", "umist", "yaleb", "coil100")
    if found.keys() >= set(four):
        together = mean(mean(found[name]["rule"]) for name in four)
        print(f"\nORL, UMIST, Yale-B and COIL-100 together: {together:.3f}")
    print_transfer({name: one["transfer"] for name, one in found.items() if "transfer" in one})
    print_left_out({name: one for name, one in found.items() if "variants" in one})
    for k in (2, 3, None) if motion else ():
        errors = [error for n_motions, error in motion["errors"] if k in (None, n_motions)]
        print(f"motion, {k or 'all'}: {100 * mean(errors):.1f} % of {len(errors)} sequences")


def print_row(name, one):
    """Print the row of a data set."""
    eta1, n_neighbors, signed = one["chosen"]
    k, evidence = one["estimate"]
    accuracies = mean(one["rule"]), *one["peers"], one["grid"]
    print_cells((
        name, one["n"], one["k"], *(f"{value:.3f}" for value in accuracies),
        f"{ratio(one):.2f}", f"{to_peers(one):.2f}",
        f"{eta1:.3g}, {n_neighbors}, {'yes' if signed else 'no'}", f"{k} ({evidence:.2f})",
        ", ".join(f"{value:.2f}" for value in one.get("seconds", [])),
    ))  # fmt: skip


def print_cells(cells):
    """Print one row of a table."""
    print("|", " | ".join(map(str, cells)), "|")


def print_means(group, some):
    """Print the means of some data sets."""
    if some:
        ratios = [ratio(one) for one in some]
        n_below = sum(to_peers(one) < 0.98 for one in some)
        counts = [(one["k"], one["estimate"][0]) for one in some]
        near = mean(max(pair) <= 1.2 * min(pair) for pair in counts)
        means = f"{mean(ratios):.3f}", f"{min(ratios):.3f}"
        print_cells((group, len(some), *means, n_below, f"{near:.2f}"))


def print_transfer(found):
    """Print how settings that labels chose, and the defaults, do on two draws of the points."""
    for name, one in found.items():
        print(name, *(f"{chosen:.3f} (defaults {default:.3f})" for chosen, default in one))
    if found:
        chosen, default = np.mean([draw for one in found.values() for draw in one], axis=0)
        print(f"chosen by labels on other points: {chosen:.3f}; defaults: {default:.3f}")


def print_left_out(found):
    """Print how the variant that is best on all other fields does on each field."""
    ratios = []
    for field in sorted({FIELDS[name] for name in found}):
        own = [one for name, one in found.items() if FIELDS[name] == field]
        others = [one for name, one in found.items() if FIELDS[name] != field]
        if others:
            scores = [
                mean(one["variants"][i] / one["grid"] for one in others)
                for i in range(len(VARIANTS))
            ]
            best = int(np.argmax(scores))
            some = [one["variants"][best] / one["grid"] for one in own]
            ratios += some
            print(f"left out {field}: {mean(some):.3f} by {VARIANTS[best]}")
    if ratios:
        print(f"left out, all: mean {mean(ratios):.3f}, worst {min(ratios):.3f}")


def ratio(one):
    """Return the accuracy relative to the best of the grid."""
    return mean(one["rule"]) / one["grid"]


def to_peers(one):
    """Return the accuracy relative to the better of two peers."""
    return mean(one["rule"]) / max(one["peers"])


def main(arguments):
    """Study the data sets named, or print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=[*FIELDS, MOTION])
    parser.add_argument("--keep", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=1)
    options = {"--again": "again", "--variants": "variants", "--cost": "seconds"}
    options |= {"--transfer": "transfer", "--summary": ""}
    for option, step in options.items():
        parser.add_argument(option, dest="step", action="store_const", const=step)
    args = parser.parse_args(arguments)
    if args.step == "":
        return print_summary(args.keep)
    args.keep.mkdir(parents=True, exist_ok=True)
    work = (delayed(study_one)(name, args.keep, args.step) for name in args.names)
    Parallel(args.jobs, batch_size=1)(work)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
