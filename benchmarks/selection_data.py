"""The data sets of `selection.py`, by field."""

import os
from functools import cache, partial
from pathlib import Path

import numpy as np

# Name: field. Names in VECTORS are files of the folder `vectors` beside the images.
VECTORS = {
    "banking77": "text", "cifar10_efficientnet": "photographs", "worm_neurons": "cells",
    "pbmc68k": "cells", "segment": "tables", "satellite": "tables", "vowel": "tables",
    "yale": "faces", "warp_ar10p": "faces", "lymphoma": "cells", "isolet": "speech",
    "usps20": "digits",
}  # fmt: skip
PAPER = {
    "orl": "faces", "umist": "faces", "umist, scattered": "faces", "yaleb": "faces",
    "yaleb, scattered": "faces", "coil40": "objects", "coil40, scattered": "objects",
    "mnist, 5000": "digits", "mnist, 10000": "digits", "emnist, 10000": "digits",
    "coil100, scattered": "objects", "coil100": "objects",
}  # fmt: skip
OTHERS = {
    "digits": "digits", "uneven digits": "digits", "orl, scattered": "faces",
    "umist [5:15]": "faces", "yaleb [10:20]": "faces", "coil100 [60:80]": "objects",
    "wine": "tables", "breast cancer": "tables", "iris": "tables",
    "noisy": "made", "dependent": "made", "many": "made", "short": "made", "close": "made",
    "directions": "made",
}  # fmt: skip
FIELDS = {**VECTORS, **PAPER, **OTHERS}

SYNTHETIC = {
    "noisy": {"n_samples": 600, "n_subspaces": 6, "dimension": 4, "n_features": 30, "noise": 0.5},
    "dependent": {"n_samples": 1000, "n_subspaces": 10, "dimension": 5, "n_features": 15},
    "many": {"n_samples": 1200, "n_subspaces": 30, "n_features": 60, "noise": 0.3},
    "short": {"n_samples": 300, "n_subspaces": 20, "dimension": 3, "n_features": 30, "noise": 0.5},
    "close": {"n_samples": 900, "n_subspaces": 9, "dimension": 5, "n_features": 14, "noise": 0.4},
}
SMALLEST = 0.2  # of its points the last class keeps, where classes are made uneven


def load(name):
    """Return X and y of a data set, or of some of its classes: a name may end in a slice."""
    whole, _, classes = name.rstrip("]").partition(" [")
    X, y = _load(whole)
    if classes:
        some = np.unique(y)[slice(*(int(end) if end else None for end in classes.split(":")))]
        X, y = X[np.isin(y, some)], y[np.isin(y, some)]
    return X, y


def motions():
    """Yield X and y of the sequences of tracked points."""
    with np.load(_folder() / "hopkins_part.npz") as data:
        for name in sorted(key[2:] for key in data if key.startswith("X_")):
            yield data[f"X_{name}"].astype(float), data[f"y_{name}"]


def _folder():
    return Path(os.environ["DSSC_DATA"]) / "vectors"


@cache
def _load(name):
    import dssc

    if name in VECTORS:
        with np.load(_folder() / f"{name}.npz") as data:
            return data["X"].astype(np.float32), data["y"]
    if name in SYNTHETIC:
        return dssc.make_union_of_subspaces(random_state=1, **SYNTHETIC[name])
    if name == "directions":
        rng = np.random.default_rng(0)
        centers, y = rng.normal(size=(20, 384)), rng.integers(0, 20, 2000)
        noise = rng.normal(size=(2000, 384)) * 0.9 + rng.normal(size=384) * 2
        return centers[y] * 0.6 + noise, y
    if name.startswith("uneven "):
        return _thinned(*_load(name.removeprefix("uneven ")))
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
