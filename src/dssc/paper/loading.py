"""The paper's data sets by name."""

from functools import lru_cache

import numpy as np

import dssc
from dssc._devices import as_array
from dssc.paper.published import read

SINGLE_FROM = 20_000  # samples; fewer are worked on in double precision


class Missing(Exception):
    """The data are not at hand; the message says how to get them."""


@lru_cache(maxsize=2)
def load(name: str, device: str = "cpu"):
    """Return X and y of a data set, scattered (on a device) where its name says so."""
    entry = read("datasets")[name]
    scatter = entry.get("scattered", False)
    bunch = fetch(name)
    X = as_array(dssc.scattered_features(bunch.images, device=device)) if scatter else bunch.data
    return X.astype(np.float32 if len(X) >= SINGLE_FROM else np.float64, copy=False), bunch.target


def fetch(name: str):
    """Return a data set as its loader does, if it is all there; nothing is downloaded."""
    entry = read("datasets")[name]
    options = entry.get("options", {})
    try:
        bunch = getattr(dssc, entry["loader"])(download_if_missing=False, **options)
    except FileNotFoundError as error:
        raise Missing(str(error)) from error
    if len(bunch.target) != entry["n"]:
        raise Missing(
            f"{entry['title']}: {len(bunch.target)} samples are at hand, not {entry['n']}"
        )
    return bunch
