"""Handwriting: the digits of MNIST and the letters of EMNIST."""

import gzip
from pathlib import Path

import numpy as np

from dssc.datasets.archive import open_zip
from dssc.datasets.base import (
    DataSet,
    as_bunch,
    checked,
    first_existing,
    load,
    read_prepared,
)
from dssc.datasets.download import Resource
from dssc.datasets.errors import damaged
from dssc.datasets.idx import read_idx

MNIST_URL = "https://storage.googleapis.com/cvdf-datasets/mnist"
# Addresses and checksums as in TensorFlow Datasets, url_checksums/mnist.txt.
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
        # url_checksums/emnist.txt; its pull request 5401 says that both mean the same file.
        Resource(
            "gzip.zip",
            "https://biometrics.nist.gov/cs_links/EMNIST/gzip.zip",
            "sha256:fb9bb67e33772a9cc0b895e4ecf36d2cf35be8b709693c3564cea2a019fcda8e",
        ),
    ),
)
EMNIST_PART = DataSet(
    name="emnist_letters_part",
    title="EMNIST handwritten letters, the first 10,000 test images only (a to m)",
    n_samples=10_000,
    n_classes=13,
    shape=EMNIST.shape,
    remedy=EMNIST.remedy,
    source=EMNIST.source,
    terms=EMNIST.terms,
    citation=EMNIST.citation,
)


def fetch_mnist(*, data_home=None, download_if_missing=True, return_X_y=False):
    """Load MNIST: 70,000 handwritten digits, training then test images, 28 x 28.

    Parameters
    ----------
    data_home : str or path, optional
        Folder of the data; the environment variable DSSC_DATA, else ``~/.cache/dssc``, when not
        given. It holds ``mnist.npz``, or the four original idx files, compressed or not.
    download_if_missing : bool, default=True
        Whether to download those of the original files that are missing.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    digits : Bunch
        `data` (70000, 784) in float64, `images` (70000, 28, 28) in uint8, `target` and `DESCR`.
    """
    samples = load(MNIST, data_home, [_read_mnist], download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def fetch_emnist_letters(*, data_home=None, download_if_missing=True, return_X_y=False):
    """Load EMNIST-Letters: 145,600 handwritten letters, training then test images, 28 x 28.

    Images are upright: the transposition of the original files is undone.

    Parameters
    ----------
    data_home : str or path, optional
        Folder of the data; the environment variable DSSC_DATA, else ``~/.cache/dssc``, when not
        given. It holds ``emnist_letters.npz``, or the original ``gzip.zip`` or the four idx files
        in it, or ``emnist_letters_part.npz``: then only the first 10,000 test images, of 13
        letters, are returned, and `DESCR` says so.
    download_if_missing : bool, default=True
        Whether to download the original archive (560 MB) where there is none of these.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    letters : Bunch
        `data` (145600, 784) in float64, `images` (145600, 28, 28) in uint8, `target` and `DESCR`.
    """
    # The part comes last, so that it never hides the whole.
    samples = load(EMNIST, data_home, [_read_emnist, _read_emnist_part], download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def _read_mnist(folder):
    paths = _find(folder, MNIST_CHECKSUMS)
    if None in paths:
        return None
    images, labels = _join([_read_file(path, MNIST) for path in paths], paths[0])
    return checked(MNIST, images, labels, paths[0])


def _read_emnist(folder):
    paths, archive = _find(folder, EMNIST_FILES), folder / "gzip.zip"
    if None not in paths:
        source, arrays = paths[0], [_read_file(path, EMNIST) for path in paths]
    elif archive.is_file():
        source, arrays = archive, _read_members(archive)
    else:
        return None
    images, labels = _join(arrays, source)
    upright = np.ascontiguousarray(images.transpose(0, 2, 1))
    return checked(EMNIST, upright, labels.astype(np.int64) - 1, source)  # 1 stands for a


def _read_emnist_part(folder):
    return read_prepared(EMNIST_PART, folder)


def _find(folder, names):
    return [first_existing(folder, [name, name.removesuffix(".gz")]) for name in names]


def _read_file(path, data_set):
    with path.open("rb") as file:
        return _read_stream(file, str(path), data_set)


def _read_members(path):
    arrays = []
    with open_zip(path) as archive:
        for name in EMNIST_FILES:
            with archive.open(f"gzip/{name}") as file:
                arrays.append(_read_stream(file, f"{path}/gzip/{name}", EMNIST))
    return arrays


def _read_stream(file, name, data_set):
    stream = gzip.GzipFile(fileobj=file) if name.endswith(".gz") else file
    item = data_set.shape if "images" in Path(name).name else ()
    return read_idx(stream, name, (data_set.n_samples, *item))


def _join(arrays, source):
    """Join training and test images, and their labels."""
    for images, labels in (arrays[:2], arrays[2:]):
        if len(images) != len(labels):
            raise damaged(
                source, f"or a file beside it is wrong: {len(images)} images, {len(labels)} labels"
            )
    return np.concatenate(arrays[0::2]), np.concatenate(arrays[1::2])
