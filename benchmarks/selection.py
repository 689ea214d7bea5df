"""Parameters without labels: the defaults of A-DSSC beside the best of a grid and scikit-learn.

    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER [name ...]
    DSSC_DATA=folder python benchmarks/selection.py --keep FOLDER --variants [name ...]
    python benchmarks/selection.py --keep FOLDER --summary

The first command fits a wide grid, `ADSSC(k)` from three seeds, the same with the chosen values
given, `ADSSC(None)`, and k-means and spectral clustering on unit rows; and, last, the sequences of
tracked points. A file for each data set is kept as soon as it is done: started again, it goes on
where it stopped. The second fits variants of the rule. The third prints the tables of the study,
with each field judged by the variant that is best on all other fields.
"""

import json
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import numpy as np
from selection_data import FIELDS, OTHERS, PAPER, VECTORS, load, motions

# The grid. Values of eta1 are for 1,000 points; more points have larger ones.
ETA1 = (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0, np.inf)
N_NEIGHBORS = (4, 6, 9, 13, 20, 30, 45)
SEEDS = (0, 1, 2)
# Variants of the rule: neighbours, their neighbours, and the dimension of a neighbourhood.
VARIANTS = ((4, 8, 14), (4, 8, 10), (4, 8, 12), (4, 8, 16), (4, 8, 20), (3, 8, 10), (3, 8, 14),
            (4, 6, 10), (4, 6, 12), (3, 12, 16), (3, 12, 20), (6, 8, 16))  # fmt: skip
MOTION = "motion"


def study(name):
    """Keep what one data set gives."""
    from sklearn.cluster import KMeans, SpectralClustering

    from dssc import ADSSC, clustering_accuracy, unit_norm

    X, y = load(name)
    k = len(np.unique(y))
    fits = [timed(ADSSC(k, random_state=seed), X) for seed in SEEDS]
    model = fits[0][0]
    best = model.candidates_[0]
    given = {"eta1": best.eta1, "signed": best.signed, "n_neighbors": best.n_neighbors}
    same = [timed(ADSSC(k, **given, random_state=seed), X) for seed in SEEDS]
    counted, seconds_counted = timed(ADSSC(None, random_state=0), X)
    unit = unit_norm(X)
    spectral = {"affinity": "nearest_neighbors", "assign_labels": "cluster_qr"}
    peers = [
        KMeans(k, n_init=10, random_state=0),
        SpectralClustering(k, n_neighbors=10, **spectral, random_state=0),
    ]
    return {
        "n": len(y), "k": k,
        "rule": [clustering_accuracy(y, fit.labels_) for fit, _ in fits],
        "chosen": [best.eta1, best.n_neighbors, best.signed],
        "seconds": [median(seconds for _, seconds in some) for some in (fits, same)],
        "estimate": [counted.n_clusters_, counted.cluster_evidence_, seconds_counted],
        "peers": [clustering_accuracy(y, peer.fit_predict(unit)) for peer in peers],
        "grid": grid(X, y, k),
    }  # fmt: skip


def grid(X, y, k):
    """Return the best accuracy of the grid, with and without signs, as means over seeds."""
    from dssc import clustering_accuracy
    from dssc._progress import Progress
    from dssc.engines import CpuEngine
    from dssc.pipeline import Settings, affinity_graph, assign, embed, express

    engine, quiet, best = CpuEngine(), Progress(), 0.0
    for signed in (False, True):
        for eta1 in ETA1:
            settings = Settings(eta1=eta1 * len(y) / 1000, signed=signed, fading=True, n_init=3)
            expression = express(X, settings, engine, quiet)
            for n_neighbors in N_NEIGHBORS:
                if n_neighbors < len(y) / 2:
                    settings = replace(settings, n_neighbors=n_neighbors)
                    graph = affinity_graph(expression, k, settings, quiet)
                    rng = np.random.RandomState(0)
                    arguments = k, settings, engine, rng, quiet
                    embedding = embed(graph, *arguments)
                    labels = [assign(graph, embedding, *arguments) for _ in SEEDS]
                    best = max(best, mean(clustering_accuracy(y, one) for one in labels))
    return best


def study_motion():
    """Keep the error of every sequence of tracked points."""
    from dssc import ADSSC, clustering_accuracy

    errors = []
    for X, y in motions():
        k = len(np.unique(y))
        fits = [ADSSC(k, affine=True, random_state=seed).fit(X) for seed in SEEDS]
        errors.append([k, 1.0 - mean(clustering_accuracy(y, fit.labels_) for fit in fits)])
    return {"errors": errors}


def study_variants(name):
    """Keep the accuracy of every variant of the rule."""
    from dssc import ADSSC, clustering_accuracy
    from dssc.selection import neighborhoods

    X, y = load(name)
    names, found = ("N_NEAR", "N_NEXT", "DIMENSION"), []
    for variant in VARIANTS:
        for attribute, value in zip(names, variant, strict=True):
            setattr(neighborhoods, attribute, value)
        fits = [ADSSC(len(np.unique(y)), random_state=seed).fit(X) for seed in SEEDS]
        found.append(mean(clustering_accuracy(y, fit.labels_) for fit in fits))
    return found


def timed(model, X):
    """Return a fitted model and the seconds it took."""
    start = time.perf_counter()
    model.fit(X)
    return model, time.perf_counter() - start


def print_summary(folder):
    """Print a table of the data sets, one of their means, and one of the motions."""
    found = {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}
    motion = found.pop(MOTION, None)
    print(
        "| data | n | k | ADSSC(k) | k-means | spectral | best of the grid | ratio | to peers "
        "| chosen eta1, neighbours, signed | seconds (given) | k estimated (evidence), seconds |"
    )
    print("|---" * 12 + "|")
    for name in (name for name in FIELDS if name in found):
        print_row(name, found[name])
    print("\n| | sets | mean ratio | worst | below .98 of the better peer | k within a fifth |")
    print("|---" * 6 + "|")
    for group, names in {"vectors": VECTORS, "paper": PAPER, "others": OTHERS}.items():
        print_means(group, [found[name] for name in names if name in found])
    four = [mean(found[name]["rule"]) for name in ("orl", "umist", "yaleb", "coil100")
            if name in found]  # fmt: skip
    print(f"\nORL, UMIST, Yale-B and COIL-100 together: {mean(four):.3f} ({len(four)} sets)")
    print_left_out(found)
    if motion:
        for k in (2, 3, None):
            errors = [error for motions, error in motion["errors"] if k in (None, motions)]
            print(f"motion, {k or 'all'}: {100 * mean(errors):.1f} % of {len(errors)} sequences")


def print_row(name, one):
    """Print the row of a data set."""
    rule, (eta1, n_neighbors, signed) = mean(one["rule"]), one["chosen"]
    seconds, given = one["seconds"]
    k, evidence, counted = one["estimate"]
    print(f"| {name} | {one['n']} | {one['k']} | {rule:.3f} | {one['peers'][0]:.3f} "
          f"| {one['peers'][1]:.3f} | {one['grid']:.3f} | {ratio(one):.2f} | {to_peers(one):.2f} "
          f"| {eta1:.3g}, {n_neighbors}, {'yes' if signed else 'no'} | {seconds:.2f} ({given:.2f}) "
          f"| {k} ({evidence:.2f}), {counted:.2f} |")  # fmt: skip


def print_means(group, some):
    """Print the means of some data sets."""
    if some:
        ratios, n_below = [ratio(one) for one in some], sum(to_peers(one) < 0.98 for one in some)
        near = mean(max(one["k"], one["estimate"][0]) <= 1.2 * min(one["k"], one["estimate"][0])
                    for one in some)  # fmt: skip
        print(f"| {group} | {len(some)} | {mean(ratios):.3f} | {min(ratios):.3f} | {n_below} "
              f"| {near:.2f} |")  # fmt: skip


def print_left_out(found):
    """Print how the variant that is best on all other fields does on each field."""
    found = {name: one for name, one in found.items() if "variants" in one}
    ratios = []
    for field in sorted({FIELDS[name] for name in found}):
        others = [one for name, one in found.items() if FIELDS[name] != field]
        own = [one for name, one in found.items() if FIELDS[name] == field]
        if others:
            scores = [mean(one["variants"][i] / one["grid"] for one in others)
                      for i in range(len(VARIANTS))]  # fmt: skip
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
    folder = Path(arguments.pop(arguments.index("--keep") + 1))
    arguments.remove("--keep")
    if "--summary" in arguments:
        return print_summary(folder)
    warnings.simplefilter("ignore")
    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in arguments if not name.startswith("--")]
    for name in names or (*FIELDS, MOTION):
        path = folder / f"{name}.json"
        found = json.loads(path.read_text()) if path.exists() else {}
        if not found:
            found = study_motion() if name == MOTION else study(name)
        elif "--variants" in arguments and "variants" not in found and name != MOTION:
            found["variants"] = study_variants(name)
        path.write_text(json.dumps(found))
        print(name, found, flush=True)
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
