"""The eta1 that neighbourhoods of several shapes choose, on random subsets of data of many fields.

    DSSC_DATA=folder python benchmarks/selection_eta1.py FILE [--jobs N] [--rounds N]
    python benchmarks/selection_eta1.py FILE --summary

A subset has some of the classes and 600 to 2,500 points, half of the subsets have uneven classes.
The first command fits `ADSSC(k, eta1=...)` for every eta1 that is compared, measures the distances
that each shape gives, and adds a line to the file for every subset. The second prints, for every
shape, the accuracy with the eta1 it chooses, relative to the best eta1 of the subset: means over
all subsets and over fields, and the worst. A shape is the number of nearest neighbours, of their
neighbours, and of directions. At the end, every field is judged by the shape that is best on all
other fields.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path
from statistics import mean, stdev

import numpy as np
from joblib import Parallel, delayed
from selection_data import FIELDS, load

BASES = (
    "worm_neurons", "pbmc68k", "segment", "satellite", "vowel", "isolet", "usps20", "orl", "umist",
    "umist, scattered", "yaleb", "yaleb, scattered", "coil40", "coil40, scattered", "coil100",
    "emnist, 10000", "digits", "lymphoma", "yale", "wine", "breast cancer",
    "banking77", "cifar10_efficientnet",
)  # fmt: skip
SHAPES = (
    (3, 8, 12), (3, 8, 8), (3, 8, 16), (3, 6, 8), (3, 6, 10), (3, 5, 6), (3, 5, 7), (3, 5, 8),
    (3, 5, 9), (3, 5, 10), (3, 4, 6), (3, 4, 7), (3, 4, 8), (3, 3, 6), (2, 8, 8), (2, 6, 7),
    (4, 4, 8), (4, 5, 10), (4, 8, 12), (5, 3, 8), (6, 8, 16),
)  # fmt: skip
MOST_CLUSTERS = 40


def subset(base, number):
    """Return X and y of some random classes of a data set, and random points of these."""
    X, y = load(base)
    rng = np.random.default_rng([number, *map(ord, base)])
    classes = np.unique(y)
    fewest = max(2, round(0.3 * len(classes)))
    count = int(rng.integers(fewest, min(len(classes), MOST_CLUSTERS) + 1))
    spread = 0.7 if rng.random() < 0.5 else 0.0
    wanted = rng.integers(600, 2500) / count
    rows = []
    for some in rng.choice(classes, count, replace=False):
        own = np.flatnonzero(y == some)
        size = int(wanted * rng.uniform(1 - spread, 1 + spread))
        rows.append(rng.choice(own, min(len(own), max(8, size)), replace=False))
    rows = rng.permutation(np.concatenate(rows))
    return X[rows], y[rows]


def study(base, number):
    """Return the accuracy with every eta1, and the distances that every shape gives."""
    from dssc import ADSSC, clustering_accuracy
    from dssc.features import distinct_rows
    from dssc.selection import neighborhoods as parts

    warnings.simplefilter("ignore")
    X, y = subset(base, number)
    k, points = len(np.unique(y)), X[distinct_rows(X, with_opposites=False).first]
    n = len(points)
    signed = bool(parts.choose_expression(points, k).signed)
    drawn = np.sort(np.random.default_rng(0).permutation(n)[: parts.MOST_SOUGHT])
    sample, at = parts.Sample(points[drawn]), np.random.default_rng(1).permutation(len(drawn))
    accuracies, distances = [], {str(shape): [] for shape in SHAPES}
    for value in parts.ETA1_VALUES:
        eta1 = value * n / parts.REFERENCE_SIZE
        model = ADSSC(k, eta1=eta1, signed=signed, random_state=0).fit(X)
        accuracies.append(clustering_accuracy(y, model.labels_))
        in_sample = value * len(drawn) / parts.REFERENCE_SIZE
        for shape in SHAPES:
            measured = parts.Shape(*shape)
            distances[str(shape)].append(
                sample.mean_distance(in_sample, signed, at[: parts.N_POINTS], measured)
            )
    return {"base": base, "number": number, "accuracies": accuracies, "distances": distances}


def keep(base, number, path):
    """Add a line to the file."""
    line = json.dumps(study(base, number))
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def print_summary(path):
    """Print a row for every shape, and the best shape of all other fields for every field."""
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    fields = np.array([FIELDS[one["base"]] for one in found])
    reached = {shape: [share(one, shape) for one in found] for shape in map(str, SHAPES)}
    print(f"{len(found)} subsets\n\n| shape | all | fields | worst | lead over the first |")
    print("|---" * 5 + "|")
    for shape, shares in reached.items():
        leads = np.subtract(shares, reached[str(SHAPES[0])])
        error = stdev(leads) / len(leads) ** 0.5
        means = f"{mean(shares):.4f} | {mean(by_field(shares, fields).values()):.4f}"
        print(f"| {shape} | {means} | {min(shares):.2f} | {leads.mean():+.4f} ± {error:.4f} |")
    left_out = []
    for field in sorted(set(fields)):
        others = {
            shape: mean(
                by_field(np.array(shares)[fields != field], fields[fields != field]).values()
            )
            for shape, shares in reached.items()
        }
        best = max(others, key=others.get)
        left_out += list(np.array(reached[best])[fields == field])
        print(f"left out {field}: {mean(left_out[-(fields == field).sum() :]):.3f} by {best}")
    print(f"left out, all: mean {mean(left_out):.4f}, worst {min(left_out):.2f}")


def share(one, shape):
    """Return the accuracy with the eta1 of the smallest distance, relative to the best eta1."""
    return one["accuracies"][int(np.argmin(one["distances"][shape]))] / max(one["accuracies"])


def by_field(shares, fields):
    """Return the mean of every field."""
    return {field: float(np.mean(np.array(shares)[fields == field])) for field in set(fields)}


def main(arguments):
    """Study random subsets, or print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--summary", action="store_true")
    args = parser.parse_args(arguments)
    if not args.summary:
        work = ((base, number) for number in range(args.rounds) for base in BASES)
        Parallel(args.jobs, batch_size=1)(delayed(keep)(*one, args.path) for one in work)
    print_summary(args.path)


if __name__ == "__main__":
    main(sys.argv[1:])
