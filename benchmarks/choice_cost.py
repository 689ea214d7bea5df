"""What choosing parameters costs, in processor seconds, which other programs disturb little.

    DSSC_DATA=folder OMP_NUM_THREADS=1 python benchmarks/choice_cost.py [name ...]

For each data set of `selection_data.py`: `ADSSC(k)`, the same with the values that it chose, and
`ADSSC(None)`; medians of five fits of each, in turns, after one that compiles.
"""

import sys
import time
import warnings
from statistics import median

import numpy as np
from selection_data import load

import dssc

NAMES = (
    "orl", "umist", "pbmc68k", "vowel", "isolet", "digits", "usps20", "worm_neurons", "segment",
    "yaleb", "cifar10_efficientnet", "satellite",
)  # fmt: skip
N_ROUNDS = 5


def processor_seconds(model, X):
    """Return the processor seconds of a fit, on all threads together."""
    start = time.process_time()
    model.fit(X)
    return time.process_time() - start


def main(names):
    """Print one row per data set."""
    warnings.simplefilter("ignore")
    print("| data | n | d | k | ADSSC(k) | values given | ratio | ADSSC(None) |")
    print("|---" * 8 + "|", flush=True)
    for name in names:
        X, y = load(name)
        k = len(np.unique(y))
        best = dssc.ADSSC(k, random_state=0).fit(X).candidates_[0]
        given = {"eta1": best.eta1, "signed": best.signed, "n_neighbors": best.n_neighbors}
        default = {"random_state": 0}
        models = [dssc.ADSSC(k, **default), dssc.ADSSC(k, **given, **default), dssc.ADSSC(None)]
        rounds = [[processor_seconds(model, X) for model in models] for _ in range(N_ROUNDS)]
        chosen, fitted, counted = (median(seconds) for seconds in zip(*rounds, strict=True))
        cells = f"{chosen:.2f} | {fitted:.2f} | {chosen / fitted:.1f} | {counted:.2f}"
        print(f"| {name} | {len(X)} | {X.shape[1]} | {k} | {cells} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or NAMES)
