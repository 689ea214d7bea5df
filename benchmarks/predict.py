"""New points: scattered MNIST, fitted on 60,000 and predicted on 10,000, with default parameters.

    DSSC_DATA=folder python benchmarks/predict.py

Beside it: clustering all 70,000, and the bare product of the new with the fitted points in float32.
"""

import pickle
import time

import numpy as np
from scipy.optimize import linear_sum_assignment

import dssc

N_FITTED, ROWS, COLUMNS = 60_000, 512, 4096


def seconds_of(call):
    """Return what a call returns and the seconds it takes."""
    start = time.perf_counter()
    result = call()
    return result, time.perf_counter() - start


def bare_product(new, fitted):
    """Multiply tile by tile, and keep nothing."""
    out = np.empty((ROWS, COLUMNS), dtype=np.float32)
    for i in range(0, len(new), ROWS):
        left = new[i : i + ROWS]
        for j in range(0, len(fitted), COLUMNS):
            right = fitted[j : j + COLUMNS]
            np.matmul(left, right.T, out=out[: len(left), : len(right)])


def names_of(labels, y):
    """Return the class of each cluster, by the best matching on the fitted points."""
    counts = np.zeros((10, 10))
    np.add.at(counts, (labels, y), 1)
    return linear_sum_assignment(counts, maximize=True)[1]


def main():
    """Print one number a line."""
    data = dssc.fetch_mnist()
    X, y = dssc.scattered_features(data.images), data.target
    old, new, y_old, y_new = X[:N_FITTED], X[N_FITTED:], y[:N_FITTED], y[N_FITTED:]
    warm = dssc.make_union_of_subspaces(5000, n_features=500, random_state=0)[0].astype("float32")
    dssc.ADSSC(3, eta2=0.01, random_state=0).fit(warm).predict(warm[:10])
    model, seconds = seconds_of(lambda: dssc.ADSSC(10, random_state=0).fit(old))
    stages = ", ".join(f"{name} {value:.1f}" for name, value in model.timings_.items())
    print(f"fit on {N_FITTED:,}: {seconds:.1f} s ({stages}); chosen {model.candidates_[0]}")
    names = names_of(model.labels_, y_old)
    print(f"ACC of the fit: {np.mean(names[model.labels_] == y_old):.4f}")
    _, seconds = seconds_of(lambda: model.predict(new[:1]))
    print(f"preparing to predict: {seconds:.2f} s")
    shares, seconds = seconds_of(lambda: model.predict_proba(new))
    _, product = seconds_of(lambda: bare_product(new, old))
    print(f"predicting {len(new):,}: {seconds:.2f} s, {seconds / product:.2f} times the product")
    right = names[shares.argmax(axis=1)] == y_new
    print(f"ACC of new points: {right.mean():.4f}")
    for low, high in ((0.0, 0.6), (0.6, 0.9), (0.9, 0.99), (0.99, 1.01)):
        some = (shares.max(axis=1) >= low) & (shares.max(axis=1) < high)
        print(
            f"  confidence {low} to {high}: {some.sum():,} points, {right[some].mean():.3f} right"
        )
    some = np.random.default_rng(0).choice(N_FITTED, 10_000, replace=False)
    same = np.mean(model.predict(old[some]) == model.labels_[some])
    print(f"agreement with labels_ on 10,000 fitted points: {same:.4f}")
    print(f"pickled: {len(pickle.dumps(model)) / 1e6:.0f} MB, of which X {old.nbytes / 1e6:.0f} MB")
    whole, seconds = seconds_of(lambda: dssc.ADSSC(10, random_state=0).fit(X))
    accuracy = dssc.clustering_accuracy(y, whole.labels_)
    print(f"clustering all {len(X):,}: {seconds:.1f} s, ACC {accuracy:.4f}")
    again = np.mean(names_of(whole.labels_, y)[whole.labels_[N_FITTED:]] == y_new)
    print(f"ACC of the same 10,000 when clustered with the rest: {again:.4f}")


if __name__ == "__main__":
    main()
