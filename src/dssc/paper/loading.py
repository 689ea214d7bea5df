"""The paper's data sets by name."""

from functools import lru_cache
from typing import Any

import numpy as np

import dssc
from dssc._devices import as_array
from dssc._typing import Array
from dssc.paper.published import paper_data

# Data sets with at least this many samples are in single precision, smaller ones in double.
SINGLE_PRECISION_FROM = 20_000


class MissingData(Exception):
    """A data set is not available; the message says how to get it."""


@lru_cache(maxsize=2)
def load(name: str, device: str = "cpu") -> tuple[Array, Array]:
    """Return X and y of a data set; scattered features are computed on the device."""
    scattered = paper_data("datasets")[name].get("scattered", False)
    bunch = fetch(name)
    X = as_array(dssc.scattered_features(bunch.images, device=device)) if scattered else bunch.data
    dtype = np.float32 if len(X) >= SINGLE_PRECISION_FROM else np.float64
    return X.astype(dtype, copy=False), bunch.target


def fetch(name: str) -> Any:
    """Return the Bunch of a data set if it is complete; nothing is downloaded."""
    entry = paper_data("datasets")[name]
    load_data = getattr(dssc, entry["loader"])
    try:
        bunch = load_data(download_if_missing=False, **entry.get("options", {}))
    except FileNotFoundError as error:
        raise MissingData(str(error)) from error
    if len(bunch.target) != entry["n"]:
        raise MissingData(
            f"{entry['title']}: only {len(bunch.target)} of {entry['n']} samples are available"
        )
    return bunch
