"""What the loaders share: the data folder, the checks of a data set, and the returned Bunch."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from dssc._homes import home_folder
from dssc._typing import Array
from dssc.datasets.download import Resource, download
from dssc.datasets.errors import damaged
from dssc.datasets.npz import read_arrays

# Weights of red, green and blue in gray.
GRAY = np.array([0.299, 0.587, 0.114])

# What `data_home` takes: a folder, or None for the default one.
DataHome = str | os.PathLike[str] | None


@dataclass(frozen=True)
class DataSet:
    """A data set as the paper uses it.

    Parameters
    ----------
    name : str
        Name of the prepared file, without its ending.
    title : str
        Full name.
    n_samples, n_classes : int
        Counts of the complete set.
    shape : tuple of int
        Shape of a sample: of an image, or of a vector if only features are available.
    remedy : str
        How to get the data by hand; completed by "from" and the source.
    source, terms, citation : str
        Home page, terms of use and publication.
    resources : tuple of Resource, default=()
        Files to download; empty if no address is known to work.
    """

    name: str
    title: str
    n_samples: int
    n_classes: int
    shape: tuple[int, ...]
    remedy: str
    source: str
    terms: str
    citation: str
    resources: tuple[Resource, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of samples, which is also the name of their array in the prepared file."""
        return "features" if len(self.shape) == 1 else "images"

    @property
    def description(self) -> str:
        """The text a loader returns as `DESCR`."""
        shape = " x ".join(str(size) for size in self.shape)
        return (
            f"{self.title}\n\n{self.n_samples} samples in {self.n_classes} classes; "
            f"{self.kind}: {shape}.\n\n"
            f"Source: {self.source}\nTerms: {self.terms}\nCitation: {self.citation}\n"
        )


@dataclass(frozen=True)
class Samples:
    """The samples of a data set, checked."""

    data_set: DataSet
    values: Array
    labels: Array


# Reads the samples in a folder; returns None if its files are missing.
Reader = Callable[[Path], Samples | None]


def data_folder(data_home: DataHome = None) -> Path:
    """Return the folder of the data: `data_home`, else DSSC_DATA, else a folder in the cache."""
    home = data_home or os.environ.get("DSSC_DATA")
    if home:
        return Path(home).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or home_folder() / ".cache") / "dssc"


def first_existing(folder: Path, names: Sequence[str]) -> Path | None:
    """Return the first of the files or folders `names` in `folder` that exists."""
    return next((folder / name for name in names if (folder / name).exists()), None)


def check_samples(data_set: DataSet, values: Array, labels: Array, source: str | Path) -> Samples:
    """Return the samples read from `source`; raise an error unless they are the complete set."""
    expected = (data_set.n_samples, *data_set.shape)
    if values.shape != expected:
        raise damaged(source, f"holds {data_set.kind} of shape {values.shape}, not {expected}")
    types = (np.uint8,) if data_set.kind == "images" else (np.float32, np.float64)
    if values.dtype not in types:
        names = " or ".join(np.dtype(kind).name for kind in types)
        raise damaged(source, f"holds {data_set.kind} of type {values.dtype}, not {names}")
    if not np.isfinite(values).all():
        raise damaged(source, f"holds {data_set.kind} that are not finite")
    if labels.dtype.kind not in "iu" or labels.shape != expected[:1]:
        raise damaged(source, f"holds labels of type {labels.dtype} and shape {labels.shape}")
    classes = np.unique(labels)
    if not np.array_equal(classes, np.arange(data_set.n_classes)):
        raise damaged(
            source,
            f"holds {len(classes)} labels from {classes[0]} to {classes[-1]}, "
            f"not {data_set.n_classes} from 0 to {data_set.n_classes - 1}",
        )
    return Samples(data_set, values, labels.astype(np.int64))


def read_prepared(data_set: DataSet, folder: Path) -> Samples | None:
    """Read the prepared file of a data set; return None if there is none."""
    path = folder / f"{data_set.name}.npz"
    if not path.is_file():
        return None
    n_samples, kind = data_set.n_samples, data_set.kind
    arrays = read_arrays(path, {kind: (n_samples, *data_set.shape), "labels": (n_samples,)})
    return check_samples(data_set, arrays[kind], arrays["labels"], path)


def load(
    data_set: DataSet, data_home: DataHome, originals: Sequence[Reader], download_if_missing: bool
) -> Samples:
    """Load a data set from the first files that exist, or download it if none do.

    Parameters
    ----------
    data_set : DataSet
        The data set.
    data_home : str, path or None
        The folder, as the user gave it.
    originals : sequence of callables
        Readers of the original files, tried in order after the prepared file.
    download_if_missing : bool
        Whether to download missing files.
    """
    folder = data_folder(data_home)
    readers: list[Reader] = [partial(read_prepared, data_set), *originals]
    samples = _first_available(readers, folder)
    if samples is None and data_set.resources and download_if_missing:
        _download_missing(data_set, folder)
        samples = _first_available(readers, folder)
    if samples is None:
        raise FileNotFoundError(_advice(data_set, folder))
    return samples


def as_bunch(
    samples: Samples, *, return_X_y: bool, color: bool = False
) -> Bunch | tuple[Array, Array]:
    """Return samples as scikit-learn's loaders do; colour is converted to gray unless `color`."""
    values, data_set = samples.values, samples.data_set
    rows = values @ GRAY if values.ndim == 4 and not color else values
    data = rows.reshape(len(rows), -1).astype(np.float64)
    if return_X_y:
        return data, samples.labels
    bunch = Bunch(data=data, target=samples.labels, DESCR=data_set.description)
    if data_set.kind == "images":
        bunch.images = values
    return bunch


def _first_available(readers: Sequence[Reader], folder: Path) -> Samples | None:
    available = (read(folder) for read in readers)
    return next((samples for samples in available if samples is not None), None)


def _download_missing(data_set: DataSet, folder: Path) -> None:
    for resource in data_set.resources:
        unpacked = resource.filename.removesuffix(".gz")
        if first_existing(folder, [resource.filename, unpacked]) is None:
            download(resource, folder)


def _advice(data_set: DataSet, folder: Path) -> str:
    offer = "pass download_if_missing=True, or " if data_set.resources else ""
    return (
        f"{data_set.title}: not found in {folder}; {offer}{data_set.remedy} from "
        f"{data_set.source} and put it there, or put the prepared {data_set.name}.npz there; "
        "to use another folder, pass data_home or set the environment variable DSSC_DATA"
    )
