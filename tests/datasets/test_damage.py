"""Whatever happens to a file, a loader returns a sound data set or an error that names the file."""

import gzip
import io

import numpy as np
import pytest
import scipy.io

from tests.datasets.originals import (
    FETCH,
    coil_files,
    mnist_files,
    orl_files,
    write_files,
    write_npz,
    write_original,
    write_zip,
)

SHAPES = {"yaleb": (48, 42), "coil": (32, 32, 3), "mnist": (28, 28), "emnist": (28, 28)}
TRIALS = 60


def write_mnist_idx(folder):
    write_files(folder, mnist_files()[0])


def write_coil_folder(folder):
    write_files(folder / "coil-100", coil_files()[0])


FORMATS = {
    "npz": ("orl", lambda folder: write_npz(folder, "orl")),
    "npz in colour": ("coil", lambda folder: write_npz(folder, "coil100")),
    "idx": ("mnist", write_mnist_idx),
    "idx.gz": ("mnist", lambda folder: write_original("mnist", folder)),
    "idx.gz in zip": ("emnist", lambda folder: write_original("emnist", folder)),
    "pgm": ("orl", lambda folder: write_files(folder, orl_files()[0])),
    "pgm in zip": ("yaleb", lambda folder: write_original("yaleb", folder)),
    "mat": ("umist", lambda folder: write_original("umist", folder)),
    "png": ("coil", write_coil_folder),
    "png in zip": ("coil", lambda folder: write_original("coil", folder)),
}


def damage(content, rng):
    """Truncate, flip bytes near the start or anywhere, insert, or drop bytes."""
    content = bytearray(content)
    place = int(rng.integers(len(content)))
    near = int(rng.integers(min(len(content), 300)))
    match rng.integers(6):
        case 0:
            del content[place:]
        case 1:
            content[place] ^= int(rng.integers(1, 256))
        case 2:
            content[near] ^= int(rng.integers(1, 256))
        case 3:
            content[near : near + 4] = rng.bytes(4)
        case 4:
            content[place:place] = rng.bytes(int(rng.integers(1, 50)))
        case 5:
            for at in rng.integers(len(content), size=20):
                content[at] ^= int(rng.integers(1, 256))
    return bytes(content)


def check(name, folder):
    """Load; return whether it went well."""
    before = sorted(folder.rglob("*"))
    try:
        bunch = FETCH[name](data_home=folder, download_if_missing=False)
    except (ValueError, OSError) as error:
        bunch, message = None, str(error)
    assert sorted(folder.rglob("*")) == before
    if bunch is None:
        assert str(folder) in message
        return False
    assert bunch.images.shape == (4, *SHAPES.get(name, (32, 32)))
    assert bunch.images.dtype == np.uint8
    assert set(bunch.target) == {0, 1}
    return True


@pytest.mark.parametrize("form", FORMATS)
def test_damaged_files(form, small, tmp_path):
    name, write = FORMATS[form]
    write(tmp_path)
    assert check(name, tmp_path)
    rng = np.random.default_rng(0)
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    failures = 0
    for _ in range(TRIALS):
        path = files[rng.integers(len(files))]
        sound = path.read_bytes()
        path.write_bytes(damage(sound, rng))
        failures += not check(name, tmp_path)
        path.write_bytes(sound)
    assert failures > TRIALS // 10
    assert check(name, tmp_path)


def test_damaged_headers_of_arrays(small, tmp_path):
    """Damage what the archive's own checksums would otherwise catch."""
    rng = np.random.default_rng(1)
    write_npz(tmp_path, "orl")
    with np.load(tmp_path / "orl.npz", allow_pickle=False) as archive:
        contents = {f"{key}.npy": npy(archive[key]) for key in archive.files}
    for _ in range(TRIALS):
        name = sorted(contents)[rng.integers(2)]
        damaged = damage(contents[name][:128], rng) + contents[name][128:]
        write_zip(tmp_path / "orl.npz", contents | {name: damaged})
        check("orl", tmp_path)


def test_damaged_headers_of_cells(small, tmp_path):
    """Damage MATLAB files without compression: here SciPy's reader crashes."""
    rng = np.random.default_rng(1)
    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = [np.zeros((112, 92, 1), np.uint8), np.zeros((112, 92, 3), np.uint8)]
    path = tmp_path / "umist_cropped.mat"
    scipy.io.savemat(path, {"facedat": cells})
    content = path.read_bytes()
    for _ in range(TRIALS):
        path.write_bytes(damage(content[:400], rng) + content[400:])
        check("umist", tmp_path)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


@pytest.mark.parametrize("name", FETCH)
def test_files_with_each_others_names(name, small, tmp_path):
    write_original(name, tmp_path)
    contents = [
        b"",
        b"\0" * 500,
        gzip.compress(b"text"),
        npy(np.zeros(4)),
        b"<html>404</html>" * 50,
    ]
    write_zip(tmp_path / "other", orl_files()[0])
    contents.append((tmp_path / "other").read_bytes())
    (tmp_path / "other").unlink()
    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        sound = path.read_bytes()
        for content in contents:
            path.write_bytes(content)
            assert not check(name, tmp_path)
        path.write_bytes(sound)
