import gzip

import numpy as np
import pytest
from scipy import io

from dssc.cli.exits import CommandError
from dssc.cli.reading import expansion
from dssc.cli.reading.dispatch import read_samples

ZEROS = np.zeros((10, 20_000))  # 1.6 MB, which compress to less than a hundredth


COLUMNS = {f"c{j}": row for j, row in enumerate(ZEROS)}


def write_parquet(path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table(COLUMNS), path)


def write_feather(path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import feather

    feather.write_feather(arrow.table(COLUMNS), path, compression="zstd")


def write_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file.create_dataset("X", data=ZEROS, compression="gzip")


def write_h5ad(path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(ZEROS.reshape(400, -1)).write_h5ad(path, compression="gzip")


def write_text(path):
    with gzip.open(path, "wt") as file:
        file.writelines(["0," * 19_999 + "0\n"] * 10)


def write_json(path):
    with gzip.open(path, "wt") as file:
        file.writelines(["[" + "0," * 19_999 + "0]\n"] * 10)


def write_workbook(path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for _ in range(10):
        sheet.append([0] * 1000)
    book.save(path)


WRITERS = {
    "a.npz": lambda path: np.savez_compressed(path, X=ZEROS),
    "a.mat": lambda path: io.savemat(path, {"X": ZEROS}, do_compression=True),
    "a.parquet": write_parquet,
    "a.feather": write_feather,
    "a.h5": write_hdf5,
    "a.h5ad": write_h5ad,
    "a.csv.gz": write_text,
    "a.jsonl.gz": write_json,
    "a.xlsx": write_workbook,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_small_file_must_not_fill_the_memory(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    assert read_samples(tmp_path / name).values.size in (ZEROS.size, 10_000)
    monkeypatch.setattr(expansion, "ALWAYS_ALLOWED", 1 << 17)
    monkeypatch.setattr(expansion, "LARGEST_RATIO", 3)
    with pytest.raises(CommandError, match=r"expands to more than \d+, .* save it uncompressed"):
        read_samples(tmp_path / name)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_must_fit_into_memory(tmp_path, monkeypatch, name):
    WRITERS[name](tmp_path / name)
    monkeypatch.setattr(expansion, "available_bytes", lambda: 1 << 17)
    with pytest.raises(CommandError, match="expands to more than 131072, the limit"):
        read_samples(tmp_path / name)
