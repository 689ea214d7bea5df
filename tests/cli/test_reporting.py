"""What the command puts into its report."""

import csv
import shlex
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dssc.cli.reading.samples import Samples
from dssc.cli.reporting import explored, sample_names
from tests.report.reading import data_of

QUICK = ("-k", 3, "--eta1", 1, "--n-neighbors", 8, "-q")


@pytest.fixture
def named_table(folder, points):
    X, y = points
    with (folder / "my points.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["who", *(f"a{j}" for j in range(X.shape[1])), "kind"])
        for i, (row, label) in enumerate(zip(X.tolist(), y, strict=True)):
            writer.writerow([f"person {i}", *row, f"type {label}"])
    return "my points.csv"


def test_names_features_and_other_numbers(run, named_table):
    options = ("--id", "who", "--labels", "kind", "--report", "r.html")
    assert run("cluster", named_table, *QUICK, *options)[0] == 0
    page = Path("r.html").read_text(encoding="utf-8")
    data = data_of(page)
    assert data["names"] == [f"person {i}" for i in range(90)]
    shown = {feature[0] for facts in data["clusters"] for feature in facts["features"]}
    assert shown <= {f"a{j}" for j in range(12)}
    assert shown
    assert 'id="modularity"' in page


def test_the_command_of_the_page_makes_it_again(run, named_table):
    options = ("--id", "who", "--labels", "kind", "--report", "r.html")
    assert run("cluster", named_table, *QUICK, *options)[0] == 0
    first = Path("r.html").read_text(encoding="utf-8")
    command = unescape(first[first.index("<code>dssc") + 6 :].split("</code>")[0])
    words = shlex.split(command)
    assert words[:3] == ["dssc", "cluster", "my points.csv"]
    assert run(*words[1:], "--force")[0] == 0
    assert data_of(Path("r.html").read_text(encoding="utf-8")) == data_of(first)


def test_the_demo_names_its_command(run, folder):
    assert run("demo", "--report", "demo.html", "-q")[0] == 0
    page = Path("demo.html").read_text(encoding="utf-8")
    assert "<code>dssc demo --report demo.html -q</code>" in page
    assert len(data_of(page, "sheet")["samples"]) == 1797  # all images have space


def test_samples_are_known_by_what_the_table_of_labels_says():
    values = np.ones((3, 2))
    assert sample_names(Samples("a.csv", values)) is None
    assert sample_names(Samples("a.csv", values, names=["x", "y", "z"])) == ["x", "y", "z"]
    skipped = Samples("a.csv", values, numbers=[0, 2, 3])
    assert sample_names(skipped) == ["0", "2", "3"]
    several = Samples("*.csv", values, files=["a.csv", "a.csv", "b.csv"])
    assert sample_names(several) == ["a.csv 0", "a.csv 1", "b.csv 0"]


@pytest.mark.parametrize(
    ("k", "n", "counts"),
    [
        (3, 90, list(range(2, 16))),
        (3, 9, list(range(2, 9))),
        (40, 4000, [20, 25, 31, 37, 40, 42, 48, 54, 60]),
        (40, 6000, None),
        (1, 2, None),
    ],
)
def test_numbers_of_clusters_are_compared_where_it_costs_little(k, n, counts):
    model = SimpleNamespace(n_clusters_=k, labels_=np.zeros(n), explore=lambda given: given)
    assert explored(model) == counts
