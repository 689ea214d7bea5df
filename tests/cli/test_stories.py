"""What users bring to the command, as real files: from a file to the table of labels."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from dssc import clustering_accuracy
from tests.cli.conftest import write_images
from tests.report.reading import data_of

QUICK = ("-k", 3, "--eta1", 1, "--n-neighbors", 8)


def read_table(source="labels.csv"):
    """Return the columns of a csv file."""
    text = (
        Path(source).read_text(encoding="utf-8") if isinstance(source, str) else source.getvalue()
    )
    rows = list(csv.reader(io.StringIO(text)))
    return dict(zip(rows[0], map(list, zip(*rows[1:], strict=True)), strict=True))


def accuracy(points, table):
    return clustering_accuracy(points[1], [int(label) for label in table["cluster"]])


@pytest.fixture
def frame(points):
    """The points with a name and a class each, as people keep them."""
    X, y = points
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    frame.insert(0, "sample", [f"S{number:03}" for number in range(len(X))])
    return frame.assign(kind=[f"type {label}" for label in y])


def test_a_spreadsheet_of_another_country(run, folder, frame, points):
    # What Excel writes where the comma is the decimal point: semicolons and a byte-order mark.
    frame.to_csv("table.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    code, out, err = run(
        "cluster", "table.csv", *QUICK, "--id", "sample", "--labels", "kind", "--json", "-q"
    )
    assert (code, err) == (0, "")
    assert json.loads(out)["scores"]["ACC"] == 1.0
    table = read_table()
    assert list(table)[:2] == ["sample", "cluster"]
    assert table["sample"] == frame["sample"].tolist()
    assert accuracy(points, table) == 1.0


@pytest.mark.parametrize(
    ("name", "write", "options"),
    [
        ("t.csv.gz", lambda frame, path: frame.to_csv(path, index=False), ()),
        ("t.tsv", lambda frame, path: frame.to_csv(path, sep="\t", index=False), ()),
        ("t.txt", lambda frame, path: frame.to_csv(path, sep="\t", encoding="utf-16"),
         ("--drop", "")),
        ("t.csv", lambda frame, path: frame.to_csv(path, sep="|", decimal=",", index=False),
         ("--sep", "|", "--decimal", ",")),
        ("t.xlsx", lambda frame, path: frame.to_excel(path, index=False), ()),
        ("t.jsonl", lambda frame, path: frame.to_json(path, orient="records", lines=True,
                                                      double_precision=15), ()),
        ("t.parquet", lambda frame, path: frame.to_parquet(path), ()),
        ("t.feather", lambda frame, path: frame.to_feather(path), ()),
    ],
)  # fmt: skip
def test_what_pandas_writes(run, folder, frame, points, name, write, options):
    write(frame, name)
    named = ("--id", "sample", "--labels", "kind", "-q")
    code, out, err = run("cluster", name, *QUICK, *options, *named)
    assert (code, err) == (0, "")
    assert "ACC 1.000" in out
    table = read_table()
    assert table["sample"] == frame["sample"].tolist()
    assert accuracy(points, table) == 1.0


def test_cells(run, folder, points):
    anndata = pytest.importorskip("anndata")
    X, y = points
    names = [f"cell{number}" for number in range(len(X))]
    obs = pd.DataFrame({"type": pd.Categorical([f"T{label}" for label in y])}, index=names)
    cells = anndata.AnnData(sparse.csr_matrix(np.abs(X)), obs, obsm={"X_pca": X})
    cells.write_h5ad("cells.h5ad")
    named = ("--key", "X_pca", "--labels", "type", "--report", "r.html", "-q")
    code, out, _ = run("cluster", "cells.h5ad", *QUICK, *named)
    assert code == 0
    assert "ACC 1.000" in out
    assert read_table()["cell"] == names
    assert data_of(Path("r.html").read_text(encoding="utf-8"))["names"] == names


def test_parts_by_a_pattern(run, folder, frame, points):
    for number, part in enumerate(np.array_split(np.arange(90), 11)):
        frame.iloc[part].to_csv(f"part{number}.csv", index=False)
    code, out, _ = run("cluster", "part*.csv", *QUICK, "--drop", "kind", "--id", "sample", "-q")
    assert code == 0
    assert "part0.csv and 10 more: 90 samples, 12 features" in out
    table = read_table()
    assert table["sample"] == frame["sample"].tolist()  # part2 before part10
    assert table["file"][0] == "part0.csv"
    assert table["file"][-1] == "part10.csv"
    assert accuracy(points, table) == 1.0


def test_a_pipe_in_and_out(folder, frame, points):
    content = gzip.compress(frame.drop(columns=["sample", "kind"]).to_csv(index=False).encode())
    command = [sys.executable, "-m", "dssc", "cluster", "-", "-o", "-", *map(str, QUICK)]
    done = subprocess.run(command, input=content, capture_output=True, timeout=100)
    assert done.returncode == 0
    table = read_table(io.StringIO(done.stdout.decode()))
    assert list(table)[:2] == ["index", "cluster"]
    assert accuracy(points, table) == 1.0
    assert "standard input: 90 samples, 12 features" in done.stderr.decode()
    assert list(folder.iterdir()) == []


def test_row_numbers_are_noticed(run, folder, points):
    frame = pd.DataFrame(points[0]).add_prefix("x")
    frame.insert(0, "number", range(1, 91))
    frame.insert(1, "patient_id", np.random.default_rng(0).permutation(90) + 1000)
    frame.to_csv("t.csv", index=False)
    code, _, err = run("cluster", "t.csv", *QUICK, "-q")
    assert code == 0
    assert "the column 'number' looks like an id and counts as a feature" in err
    assert "--drop 'patient_id', or name the samples by it with --id 'patient_id'" in err
    code, _, err = run(
        "cluster", "t.csv", *QUICK, "--id", "number", "--drop", "patient_id", "--force", "-q"
    )
    assert (code, err) == (0, "")


def test_images_that_cannot_be_read_are_passed_over(run, folder):
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 200, (2, 16, 16))
    images = [patterns[i % 2] + rng.integers(0, 50, (16, 16)) for i in range(20)]
    images[7] = np.zeros((16, 16))  # black
    write_images(folder / "photos", images, [f"{number}.png" for number in range(20)])
    (folder / "photos/3.png").write_bytes(b"not an image")
    command = ["cluster", "photos", "-k2", "--features", "raw", "--n-neighbors", 4, "-q"]
    code, _, err = run(*command)
    assert code == 2
    assert "3.png is not a readable image" in err
    assert "add --skip-bad" in err
    code, out, err = run(*command, "--skip-bad")
    assert code == 0
    assert "3.png is not a readable image" in err
    assert "passed over: photos: 1 of 19 samples hold only zeros" in err
    assert "no cluster   2 (label -1)" in out
    table = read_table()
    assert table["file"] == [f"{number}.png" for number in range(20)]
    without = [number for number, label in enumerate(table["cluster"]) if label == "-1"]
    assert without == [3, 7]
    run(*command, "--skip-bad", "-o", "labels.npy")
    assert np.load("labels.npy").tolist() == [int(label) for label in table["cluster"]]


def test_rows_that_cannot_be_used_are_passed_over(run, folder, frame, points):
    frame.loc[[5, 40], "x3"] = np.nan
    frame.loc[60, "x0":"x11"] = 0.0
    frame.to_csv("t.csv", index=False)
    np.savetxt("classes.txt", points[1], fmt="%d")
    named = ("--drop", "sample", "--drop", "kind", "--labels", "classes.txt")
    code, _, err = run("cluster", "t.csv", *QUICK, *named, "-q")
    assert code == 2
    assert (
        "2 of 90 samples hold NaN or infinite values: lines 7, 42; fill or remove them, or" in err
    )
    code, out, _ = run("cluster", "t.csv", *QUICK, *named, "--skip-bad", "-q")
    assert code == 0
    assert "ACC 1.000" in out
    table = read_table()
    assert table["index"] == [str(number) for number in range(90)]
    assert np.flatnonzero(np.array(table["cluster"]) == "-1").tolist() == [5, 40, 60]


@pytest.mark.slow
def test_the_first_run_says_that_it_compiles(folder, table):
    command = [sys.executable, "-m", "dssc", "cluster", str(table), "--drop", "kind", "-k3"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    for expected in (1, 0):
        done = subprocess.run(
            [*command, "--force"], env=environment, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("compiling, once") == expected
