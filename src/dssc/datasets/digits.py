"""Handwriting: the digits of MNIST and the letters of EMNIST."""

import gzip
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from sklearn.utils import Bunch

from dssc._typing import Array
from dssc.datasets.archive import open_zip
from dssc.datasets.base import (
    DataHome,
    DataSet,
    Reader,
    Samples,
    as_bunch,
    check_samples,
    first_existing,
    load,
    read_prepared,
)
from dssc.datasets.download import Resource
from dssc.datasets.errors import damaged
from dssc.datasets.idx import read_idx

# Folder of the original files.
MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist"
# Checksums of the original files. They and the address are those of TensorFlow Datasets,
# url_checksums/mnist.txt.
MNIST_CHECKSUMS = {
    "train-images-idx3-ubyte.gz": (
        "sha256:440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"
    ),
    "train-labels-idx1-ubyte.gz": (
        "sha256:3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"
    ),
    "t10k-images-idx3-ubyte.gz": (
        "sha256:8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        "sha256:f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"
    ),
}
MNIST = DataSet(
    name="mnist",
    title="MNIST handwritten digits",
    n_samples=70_000,
    n_classes=10,
    shape=(28, 28),
    remedy="get its four files, such as train-images-idx3-ubyte.gz,",
    source="http://yann.lecun.com/exdb/mnist/",
    terms="Copyright Yann LeCun and Corinna Cortes; CC BY-SA 3.0 according to Keras.",
    citation=(
        "Y. LeCun, L. Bottou, Y. Bengio, P. Haffner. Gradient-based learning applied to document "
        "recognition. Proceedings of the IEEE 86(11), 1998."
    ),
    resources=tuple(
        Resource(name, f"{MNIST_URL}/{name}", checksum)
        for name, checksum in MNIST_CHECKSUMS.items()
    ),
)
# The original files, which are inside the archive gzip.zip.
EMNIST_FILES = (
    "emnist-letters-train-images-idx3-ubyte.gz",
    "emnist-letters-train-labels-idx1-ubyte.gz",
    "emnist-letters-test-images-idx3-ubyte.gz",
    "emnist-letters-test-labels-idx1-ubyte.gz",
)
EMNIST = DataSet(
    name="emnist_letters",
    title="EMNIST handwritten letters",
    n_samples=145_600,
    n_classes=26,
    shape=(28, 28),
    remedy="get gzip.zip",
    source="https://www.nist.gov/itl/products-and-services/emnist-dataset",
    terms="Published by NIST from its Special Database 19; no licence is stated.",
    citation=(
        "G. Cohen, S. Afshar, J. Tapson, A. van Schaik. EMNIST: an extension of MNIST to "
        "handwritten letters. International Joint Conference on Neural Networks, 2017."
    ),
    resources=(
        # Address as in torchvision (pull request 8350), checksum as in TensorFlow Datasets,
        # url_checksums/emnist.txt; according to its pull request 5401, both are the same file.
        Resource(
            "gzip.zip",
            "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
            "sha256:fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e",
        ),
    ),
)
EMNIST_PART = replace(
    EMNIST,
    name="emnist_letters_part",
    title="EMNIST handwritten letters, the first 10,000 test images only (a to m)",
    n_samples=10_000,
    n_classes=13,
    resources=(),
)


def fetch_mnist(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Bunch | tuple[Array, Array]:
    """Load MNIST: 70,000 handwritten digits, training then test images, 28 x 28.

    Parameters
    ----------
    data_home : str or path, optional
        Folder of the data: by default the environment variable DSSC_DATA, else
        ``~/.cache/dssc``. It holds ``mnist.npz``, or the four original idx files, compressed or
        not.
    download_if_missing : bool, default=True
        Whether to download missing original files.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    digits : Bunch
        `data` (70000, 784) in float64, `images` (70000, 28, 28) in uint8, `target` and `DESCR`.
    """
    samples = load(MNIST, data_home, [_read_mnist], download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def fetch_emnist_letters(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Bunch | tuple[Array, Array]:
    """Load EMNIST-Letters: 145,600 handwritten letters, training then test images, 28 x 28.

    Images are upright: the transposition of the original files is undone.

    Parameters
    ----------
    data_home, return_X_y
        See :func:`dssc.fetch_mnist`. The folder holds ``emnist_letters.npz``, or the original
        ``gzip.zip`` or its four idx files, or ``emnist_letters_part.npz``: then only the first
        10,000 test images, of 13 letters, are returned, and `DESCR` says so.
    download_if_missing : bool, default=True
        Whether to download the original archive (560 MB) if none of these exists.

    Returns
    -------
    letters : Bunch
        `data` (145600, 784) in float64, `images` (145600, 28, 28) in uint8, `target` and `DESCR`.
    """
    # The part comes last: it is used only if the complete set is missing.
    readers: list[Reader] = [_read_emnist, partial(read_prepared, EMNIST_PART)]
    samples = load(EMNIST, data_home, readers, download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def _read_mnist(folder: Path) -> Samples | None:
    paths = _find(folder, MNIST_CHECKSUMS)
    if paths is None:
        return None
    images, labels = _join([_read_file(path, MNIST) for path in paths], paths[0])
    return check_samples(MNIST, images, labels, paths[0])


def _read_emnist(folder: Path) -> Samples | None:
    paths, archive = _find(folder, EMNIST_FILES), folder / "gzip.zip"
    if paths is not None:
        source, arrays = paths[0], [_read_file(path, EMNIST) for path in paths]
    elif archive.is_file():
        source, arrays = archive, _read_members(archive)
    else:
        return None
    images, labels = _join(arrays, source)
    upright = np.ascontiguousarray(images.transpose(0, 2, 1))
    return check_samples(EMNIST, upright, labels.astype(np.int64) - 1, source)  # 1 stands for a


def _find(folder: Path, names: Iterable[str]) -> list[Path] | None:
    """Return the paths of the files, compressed or not; None unless all of them exist."""
    found = [first_existing(folder, [name, name.removesuffix(".gz")]) for name in names]
    paths = [path for path in found if path is not None]
    return paths if len(paths) == len(found) else None


def _read_file(path: Path, data_set: DataSet) -> Array:
    with path.open("rb") as file:
        return _read_stream(file, str(path), data_set)


def _read_members(path: Path) -> list[Array]:
    arrays = []
    with open_zip(path) as archive:
        for name in EMNIST_FILES:
            with archive.open(f"gzip/{name}") as file:
                arrays.append(_read_stream(file, f"{path}/gzip/{name}", EMNIST))
    return arrays


def _read_stream(file: IO[bytes], name: str, data_set: DataSet) -> Array:
    stream = gzip.GzipFile(fileobj=file) if name.endswith(".gz") else file
    item = data_set.shape if "images" in Path(name).name else ()
    return read_idx(stream, name, (data_set.n_samples, *item))


def _join(arrays: list[Array], source: Path) -> tuple[Array, Array]:
    """Join training and test images, and their labels."""
    for images, labels in (arrays[:2], arrays[2:]):
        if len(images) != len(labels):
            raise damaged(
                source, f"or a file next to it is wrong: {len(images)} images, {len(labels)} labels"
            )
    return np.concatenate(arrays[0::2]), np.concatenate(arrays[1::2])
