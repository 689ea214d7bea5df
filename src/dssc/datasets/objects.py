"""Objects on a turntable: COIL-100 and COIL-40, its first 40 objects."""

from dataclasses import replace
from pathlib import Path

from sklearn.utils import Bunch

from dssc._typing import Array
from dssc.datasets.archive import Tree
from dssc.datasets.base import DataHome, DataSet, Samples, as_bunch, first_existing, load
from dssc.datasets.download import Resource
from dssc.datasets.image_files import decode_png, read_image_files

COIL = DataSet(
    name="coil100",
    title="Columbia Object Image Library (COIL-100)",
    n_samples=7200,
    n_classes=100,
    shape=(32, 32, 3),
    remedy="get coil-100.zip",
    source="https://www.cs.columbia.edu/CAVE/software/softlib/coil-100.php",
    terms="Available for research purposes.",
    citation=(
        "S. A. Nene, S. K. Nayar, H. Murase. Columbia Object Image Library (COIL-100). "
        "Technical report CUCS-006-96, Columbia University, 1996."
    ),
    resources=(
        # Checksum as in TensorFlow Datasets, url_checksums/coil100.txt.
        Resource(
            "coil-100.zip",
            "https://www.cs.columbia.edu/CAVE/databases/SLAM_coil-20_coil-100/coil-100/coil-100.zip",
            "sha256:fcb4b8b01c0778f416d8d7a09f45082c4f7075cc74743dcddd5c44307bd4afe7",
        ),
    ),
)
# The names of COIL's images.
COIL_TREE = Tree("obj*.png", r"obj(\d+)__(\d+)\.png", 2**18)


def fetch_coil(
    *,
    n_objects: int = 100,
    color: bool = False,
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Bunch | tuple[Array, Array]:
    """Load COIL: 72 images of each of 100 objects, 5 degrees apart, 32 x 32 in colour.

    Parameters
    ----------
    n_objects : {40, 100}, default=100
        Number of objects: all, or the first 40 (COIL-40).
    color : bool, default=False
        Whether the rows of `data` hold red, green and blue instead of gray, which is
        ``.299 R + .587 G + .114 B``, not rounded.
    data_home, return_X_y
        See :func:`dssc.fetch_mnist`. The folder holds ``coil100.npz``, or the original
        ``coil-100.zip`` or its folder, which need ``dssc[images]``.
    download_if_missing : bool, default=True
        Whether to download the original archive if both are missing.

    Returns
    -------
    objects : Bunch
        `data` (7200, 1024) in float64, or (7200, 3072) with `color`; `images` (7200, 32, 32, 3) in
        uint8, `target` and `DESCR`. COIL-40 has 2880 rows.
    """
    if n_objects not in (40, 100):
        raise ValueError(f"n_objects={n_objects} must be 40 or 100")
    samples = load(COIL, data_home, [_read_coil], download_if_missing)
    if n_objects < COIL.n_classes:
        samples = _first_objects(samples, n_objects)
    return as_bunch(samples, return_X_y=return_X_y, color=color)


def _first_objects(samples: Samples, n_objects: int) -> Samples:
    kept = samples.labels < n_objects
    values, labels = samples.values[kept], samples.labels[kept]
    data_set = replace(
        samples.data_set,
        title=f"{samples.data_set.title}, the first {n_objects} objects",
        n_samples=len(labels),
        n_classes=n_objects,
    )
    return Samples(data_set, values, labels)


def _read_coil(folder: Path) -> Samples | None:
    path = first_existing(folder, ["coil-100", "coil-100.zip"])
    return read_image_files(COIL, path, COIL_TREE, decode_png, (128, 128))
