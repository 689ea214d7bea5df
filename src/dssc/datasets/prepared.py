"""The loader of prepared data files."""

import os
import zipfile
from pathlib import Path

import numpy as np
from sklearn.utils import Bunch

GRAY = np.array([0.299, 0.587, 0.114])


def load_prepared(name: str, *, data_home=None) -> Bunch:
    """Load a prepared data set, ``<name>.npz`` in `data_home`.

    Parameters
    ----------
    name : str
        Name of the file without its ending, such as ``"orl"``.
    data_home : str or path, optional
        The folder; the environment variable DSSC_DATA when not given.

    Returns
    -------
    data : Bunch
        `data` (n_samples, n_features) in float64, `target`, and `images` where the file has them.
        Colour images are given in gray in `data`, by the weights .299, .587, .114, not rounded.
    """
    path = _find(name, data_home)
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is not a readable NumPy archive: {error}") from error
    source = "features" if "features" in arrays else "images"
    if source not in arrays or "labels" not in arrays:
        raise ValueError(
            f"{path} must hold 'labels' and 'images' or 'features'; it holds {sorted(arrays)}"
        )
    values, labels = arrays[source], arrays["labels"]
    if len(values) != len(labels):
        raise ValueError(f"{path} holds {len(values)} {source} but {len(labels)} labels")
    bunch = Bunch(target=labels.astype(np.int64))
    if source == "images":
        bunch.images = values
        values = values @ GRAY if values.ndim == 4 else values
    bunch.data = values.reshape(len(values), -1).astype(np.float64)
    return bunch


def _find(name, data_home):
    home = data_home or os.environ.get("DSSC_DATA")
    if not home:
        raise FileNotFoundError(
            f"no folder to look for {name}.npz in: pass data_home or set DSSC_DATA"
        )
    path = Path(home) / f"{name}.npz"
    if not path.is_file():
        raise FileNotFoundError(f"{path} does not exist; put the prepared file there")
    return path
