"""How well any rule can count clusters: a model fitted to the numbers of classes of other fields.

    DSSC_DATA=folder python benchmarks/counting_model.py [--rounds N] [--jobs N]

For every data set of `selection_data.py`, and for random subsets of their classes, clusterings of
the graph of `ADSSC(None)` into many numbers of clusters are measured: over which lengths of walks a
number is the best, how far clusterings agree, the steps in the spectrum, and more. A logistic model
of these measures is fitted to the numbers of classes of all fields but one, and estimates those of
this field. Prints how often it is right within a fifth, beside the rule in use.
"""

import argparse
import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components
from selection_data import FIELDS, load
from selection_eta1 import BASES, subset

# Ratio of one number of clusters to the next, and largest multiple of the most modular one.
RATIO, BEYOND = 1.1, 1.8
# Differences of logarithms over which classes, agreement and lengths of walks are smoothed.
NEAR_CLASSES, NEAR_AGREEMENT, WIDE_AGREEMENT, NEAR_LENGTHS = 0.15, 0.1, 0.4, 0.3
# Doublings of the length of walks, and lengths at which the loss of stability is measured.
BANDS, LENGTHS = ((0, 1), (1, 2), (2, 4), (4, 8)), (0, 4, 8, 16)
# Weight of the squared coefficients of the model.
PENALTY = 1.0


def measured(name, number):
    """Return the measures of each number of clusters, the numbers, the classes and the estimate."""
    from dssc import ADSSC
    from dssc.agreement import rand_index
    from dssc.spectral.clusterings import SpectralClusterings
    from dssc.spectral.walks import Walks

    warnings.simplefilter("ignore")
    X, y = load(name) if number is None else subset(name, number)
    model = ADSSC(None, random_state=0).fit(X)
    graph = model.affinity_matrix_
    fewest = max(2, connected_components(graph, directed=False)[0])
    clusterings = SpectralClusterings(graph, fewest, min(150, graph.shape[0] // 3), seed=0)
    numbers, stabilities, agreements, k = [], [], [], fewest
    while k < clusterings.most:
        if clusterings.serve(k) or not numbers:
            walks = Walks(graph, clusterings.vectors, clusterings.eigenvalues)
        labels = clusterings.labels(k)
        numbers.append(k)
        stabilities.append(np.max([walks.stability(one) for one in labels], axis=0))
        pairs = zip(labels, [*labels[1:], labels[0]], strict=True)
        agreements.append(np.mean([rand_index(*pair, k) for pair in pairs]))
        if k >= max(16, BEYOND * numbers[np.argmax([one[0] for one in stabilities])]):
            break
        k = max(k + 1, round(RATIO * k))
    values = np.clip(np.sort(clusterings.eigenvalues)[::-1], -1.0, 1.0)
    measures = columns(np.array(numbers), np.array(stabilities), np.array(agreements), values, X)
    return measures, np.array(numbers), len(np.unique(y)), model.n_clusters_, FIELDS[name]


def columns(numbers, stabilities, agreements, values, X):
    """Return one row of measures for each number of clusters."""
    logs = np.log(numbers)
    apart = np.abs(logs[:, None] - logs)
    nearness = np.maximum(0.0, 1.0 - apart[:, stabilities.argmax(axis=0)] / NEAR_LENGTHS)
    distances = 1.0 - np.append(values, values[-1])

    def smoothed(width):
        kernel = np.exp(-0.5 * np.square(apart / width))
        return np.log(np.clip(kernel @ agreements / kernel.sum(axis=1), 0.01, 1.0))

    return np.column_stack([
        *(nearness[:, 4 * first : 4 * last].sum(axis=1) for first, last in BANDS),
        smoothed(NEAR_AGREEMENT),
        smoothed(NEAR_AGREEMENT) - smoothed(WIDE_AGREEMENT),
        *(np.log((distances[numbers] + f) / (distances[numbers - 1] + f)) for f in (0.1, 0.01)),
        logs, logs**2, logs * np.log(len(X)),
        *(10.0 * (stabilities[:, at] - stabilities[:, at].max()) for at in LENGTHS),
    ])  # fmt: skip


def fit(some, center, scale):
    """Return the coefficients of the measures, by maximum likelihood."""
    rows = [(one[0] - center) / scale for one in some]
    shares = [np.exp(-0.5 * np.square(np.log(one[1] / one[2]) / NEAR_CLASSES)) for one in some]

    def loss(coefficients):
        total, slope = PENALTY / 2 * coefficients @ coefficients, PENALTY * coefficients
        for row, share in zip(rows, shares, strict=True):
            share = (share + 1e-6) / (share + 1e-6).sum()
            scores = row @ coefficients
            odds = np.exp(scores - scores.max())
            total -= share @ np.log(odds / odds.sum())
            slope = slope + row.T @ (odds / odds.sum() - share)
        return total, slope

    return minimize(loss, np.zeros(len(center)), jac=True, method="L-BFGS-B").x


def estimated(one, coefficients, center, scale):
    """Return the number whose neighbours within a fifth are most likely."""
    scores = (one[0] - center) / scale @ coefficients
    odds = np.exp(scores - scores.max())
    numbers = one[1]
    near = np.maximum(numbers[:, None], numbers) <= 1.2 * np.minimum(numbers[:, None], numbers)
    return int(numbers[(near @ odds).argmax()])


def main(arguments):
    """Print how often the model and the rule are right within a fifth."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args(arguments)
    work = [(name, None) for name in FIELDS]
    work += [(base, number) for number in range(args.rounds) for base in BASES]
    found = Parallel(args.jobs, batch_size=1)(delayed(measured)(*one) for one in work)
    rows = np.concatenate([one[0] for one in found])
    center, scale = rows.mean(axis=0), rows.std(axis=0)
    models = {
        field: fit([one for one in found if one[4] != field], center, scale)
        for field in {one[4] for one in found}
    }
    right = []
    for one in found:
        numbers = estimated(one, models[one[4]], center, scale), one[3]
        right.append([max(one[2], number) <= 1.2 * min(one[2], number) for number in numbers])
    for part, some in (("data sets", slice(len(FIELDS))), ("subsets", slice(len(FIELDS), None))):
        model, rule = np.mean(right[some], axis=0)
        print(f"{len(right[some])} {part}: model {model:.2f}, rule {rule:.2f} within a fifth")


if __name__ == "__main__":
    main(sys.argv[1:])
