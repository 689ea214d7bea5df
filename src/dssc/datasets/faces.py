"""Faces: Extended Yale-B, ORL and UMIST."""

from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

from dssc._typing import Array
from dssc.datasets.archive import Tree
from dssc.datasets.base import (
    DataHome,
    DataSet,
    Samples,
    as_bunch,
    check_samples,
    first_existing,
    load,
)
from dssc.datasets.download import Resource
from dssc.datasets.image_files import decode_pgm, read_image_files, reduce_image
from dssc.datasets.mat import read_image_cells

YALEB = DataSet(
    name="yaleb",
    title="Extended Yale Face Database B, cropped",
    n_samples=2414,
    n_classes=38,
    shape=(48, 42),
    remedy="get CroppedYale.zip",
    # The addresses of the archive itself are dead: github.com/tensorly/
    # Proceedings_IEEE_companion_notebooks/issues/6.
    source="http://vision.ucsd.edu/~leekc/ExtYaleDatabase/ExtYaleB.html",
    terms="Free for research; publications acknowledge the Extended Yale Face Database B.",
    citation=(
        "A. S. Georghiades, P. N. Belhumeur, D. J. Kriegman. From few to many: illumination cone "
        "models for face recognition under variable lighting and pose. IEEE TPAMI 23(6), 2001. "
        "K. C. Lee, J. Ho, D. J. Kriegman. Acquiring linear subspaces for face recognition under "
        "variable lighting. IEEE TPAMI 27(5), 2005."
    ),
)
ORL = DataSet(
    name="orl",
    title="ORL Database of Faces",
    n_samples=400,
    n_classes=40,
    shape=(32, 32),
    remedy="get att_faces.zip",
    source="https://cam-orl.co.uk/facedatabase.html",
    terms="Give credit to AT&T Laboratories Cambridge.",
    citation=(
        "F. Samaria, A. Harter. Parameterisation of a stochastic model for human face "
        "identification. 2nd IEEE Workshop on Applications of Computer Vision, 1994."
    ),
    resources=(
        # Address and checksum as in Idiap's bob.bio.face, which keeps this copy.
        Resource(
            "att_faces.zip",
            "https://www.idiap.ch/software/bob/data/bob/att_faces.zip",
            "md5:6efb25cb0d40755e9492b9c012e3348d",
        ),
    ),
)
UMIST = DataSet(
    name="umist",
    title="UMIST (Sheffield) Face Database, cropped",
    n_samples=575,
    n_classes=20,
    shape=(32, 32),
    remedy="get umist_cropped.mat",
    source="https://cs.nyu.edu/~roweis/data.html",
    terms="No licence was published; in use for research.",
    citation=(
        "D. B. Graham, N. M. Allinson. Characterising virtual eigensignatures for general purpose "
        "face recognition. In: Face Recognition: From Theory to Applications, Springer, 1998."
    ),
    # No checksum was ever published.
    resources=(Resource("umist_cropped.mat", "https://cs.nyu.edu/~roweis/data/umist_cropped.mat"),),
)
UMIST_SCATTERED = DataSet(
    name="umist_scattered",
    title="UMIST Face Database, scattering features of the paper's authors",
    n_samples=575,
    n_classes=20,
    shape=(500,),
    remedy="make umist_scattered.npz ('features' and 'labels') of data/umist_scatter.mat",
    source="https://github.com/cptq/SubspaceClusteringJulia",
    terms="MIT licence.",
    citation=(
        "D. Lim, R. Vidal, B. D. Haeffele. Doubly stochastic subspace clustering. "
        "arXiv:2011.14859. " + UMIST.citation
    ),
)

# The names of Yale-B's images. Corrupted images end in .pgm.bad, and *_Ambient.pgm have another
# size: neither name matches.
YALEB_TREE = Tree("yaleB*/*.pgm", r"yaleB(\d\d)/yaleB\1_P00(A[+-]\d{3}E[+-]\d\d)\.pgm", 2**16)
# The names of ORL's images.
ORL_TREE = Tree("s*/*.pgm", r"s(\d+)/(\d+)\.pgm", 2**16)


def fetch_yaleb(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Bunch | tuple[Array, Array]:
    """Load the Extended Yale-B faces: 2,414 images of 38 people under varying light, 48 x 42.

    The 18 images marked as corrupted are left out, as in the paper.

    Parameters
    ----------
    data_home, return_X_y
        See :func:`dssc.fetch_mnist`. The folder holds ``yaleb.npz``, or the original
        ``CroppedYale.zip`` or its folder.
    download_if_missing : bool, default=True
        Without effect: no working address of this set is known. The error says what to get.

    Returns
    -------
    faces : Bunch
        `data` (2414, 2016) in float64, `images` (2414, 48, 42) in uint8, `target` and `DESCR`.
    """
    samples = load(YALEB, data_home, [_read_yaleb], download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def fetch_orl(
    *, data_home: DataHome = None, download_if_missing: bool = True, return_X_y: bool = False
) -> Bunch | tuple[Array, Array]:
    """Load the ORL faces: 400 images of 40 people, whole frames, 32 x 32.

    Parameters
    ----------
    data_home, return_X_y
        See :func:`dssc.fetch_mnist`. The folder holds ``orl.npz``, or the original
        ``att_faces.zip`` or its folders ``s1`` to ``s40``.
    download_if_missing : bool, default=True
        Whether to download the original archive if both are missing.

    Returns
    -------
    faces : Bunch
        `data` (400, 1024) in float64, `images` (400, 32, 32) in uint8, `target` and `DESCR`.
    """
    samples = load(ORL, data_home, [_read_orl], download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def fetch_umist(
    *,
    scattered: bool = False,
    data_home: DataHome = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
) -> Bunch | tuple[Array, Array]:
    """Load the UMIST faces: 575 images of 20 people from profile to front, 32 x 32.

    Parameters
    ----------
    scattered : bool, default=False
        Whether to load the scattering features that the paper's authors used, 500 per image,
        instead of the images. They are read from ``umist_scattered.npz``.
    data_home, return_X_y
        See :func:`dssc.fetch_mnist`. The folder holds ``umist.npz``, or the original
        ``umist_cropped.mat``.
    download_if_missing : bool, default=True
        Whether to download the original file if both are missing.

    Returns
    -------
    faces : Bunch
        `data` (575, 1024) in float64, `images` (575, 32, 32) in uint8, `target` and `DESCR`; with
        `scattered`, `data` (575, 500) and no `images`.
    """
    if scattered:
        samples = load(UMIST_SCATTERED, data_home, [], download_if_missing)
    else:
        samples = load(UMIST, data_home, [_read_umist], download_if_missing)
    return as_bunch(samples, return_X_y=return_X_y)


def _read_yaleb(folder: Path) -> Samples | None:
    path = first_existing(folder, ["CroppedYale", "CroppedYale.zip"])
    return read_image_files(YALEB, path, YALEB_TREE, decode_pgm, (192, 168))


def _read_orl(folder: Path) -> Samples | None:
    path = first_existing(folder, ["orl_faces", "att_faces", "s1", "att_faces.zip"])
    path = folder if path == folder / "s1" else path
    return read_image_files(ORL, path, ORL_TREE, decode_pgm, (112, 92))


def _read_umist(folder: Path) -> Samples | None:
    path = first_existing(folder, ["umist_cropped.mat"])
    if path is None:
        return None
    cells = read_image_cells(path, "facedat", UMIST.n_classes, (112, 92), UMIST.n_samples)
    images = np.stack([reduce_image(image, UMIST.shape) for cell in cells for image in cell])
    labels = np.repeat(np.arange(len(cells)), [len(cell) for cell in cells])
    return check_samples(UMIST, images, labels, path)
