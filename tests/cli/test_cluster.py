import json

import numpy as np
import pytest
from scipy import sparse

from dssc import clustering_accuracy
from tests.cli.conftest import write_images


def read_labels(path):
    """Return the heading and the rows of the first two columns: the sample, and its cluster."""
    lines = [line.split(",")[:2] for line in path.read_text(encoding="utf-8").splitlines()]
    return ",".join(lines[0]), lines[1:]


def test_a_table_gets_labels_and_a_summary(run, table, points):
    code, out, err = run("cluster", table, "-k", 3, "--labels", "kind")
    assert code == 0
    header, rows = read_labels(table.parent / "labels.csv")
    assert header == "index,cluster"
    assert [row[0] for row in rows] == [str(i) for i in range(90)]
    assert clustering_accuracy(points[1], [int(row[1]) for row in rows]) == 1.0
    assert "90 samples, 12 features" in out
    assert "ACC 1.000  NMI 1.000  SPE" in out
    assert "converged: marginal error" in out
    assert "wrote        labels.csv" in out
    assert err.startswith("reading: ")


def test_json_is_all_of_standard_output(run, table):
    code, out, err = run(
        "cluster", table, "-k", 3, "--drop", "kind", "--eta2", 0.05, "--json", "-q"
    )
    summary = json.loads(out)
    assert (code, err) == (0, "")
    assert summary["n_features"] == 12
    assert summary["parameters"]["eta2"] == summary["eta2"] == 0.05
    assert sum(summary["sizes"]) == 90
    assert summary["scores"] is None
    assert summary["certificate"]["marginal_error"] <= 1e-8
    assert set(summary["seconds"]) >= {"reading", "features", "projection", "eigenvectors"}


def test_what_the_clusters_are_worth_is_said(run, table):
    arguments = "cluster", table, "-k", 3, "--drop", "kind", "-q"
    assert "verdict      clear: all 3 clusters are found again" in run(*arguments)[1]
    verdict = json.loads(run(*arguments, "--json", "--force")[1])["verdict"]
    assert verdict["kind"] == "clear"
    assert verdict["proved_separate"] == 3
    assert len(verdict["stability"]["clusters"]) == 3
    without = run(*arguments, "--json", "--force", "--no-verdict")[1]
    assert json.loads(without)["verdict"] is None


def test_what_was_chosen_is_said(run, table):
    code, out, _ = run("cluster", table, "-k", 3, "--drop", "kind", "-q")
    assert code == 0
    assert "choice       the points cluster by" in out


def test_an_infinite_eta1_is_legal_json(run, table):
    arguments = "cluster", table, "-k", 3, "--drop", "kind", "--eta1", "inf", "-q"
    out = run(*arguments, "--json")[1]
    summary = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert summary["eta1"] == summary["parameters"]["eta1"] == "inf"
    assert "eta1 = inf" in run(*arguments, "-o", "again.csv")[1]


def test_labels_can_be_an_array(run, table, points):
    assert run("cluster", table, "-k", 3, "--drop", "kind", "-o", "l.npy")[0] == 0
    labels = np.load("l.npy")
    assert clustering_accuracy(points[1], labels) == 1.0


def test_the_same_command_gives_the_same_labels(run, table):
    for name in ("a.csv", "b.csv"):
        run("cluster", table, "-k", 3, "--drop", "kind", "-o", name)
    assert (table.parent / "a.csv").read_bytes() == (table.parent / "b.csv").read_bytes()


def test_falling_short_is_its_own_exit_code(run, table):
    code, _, err = run("cluster", table, "-k", 3, "--drop", "kind", "--max-iter", 1)
    assert code == 3
    assert "warning: not converged" in err
    assert "raise max_iter" in err
    assert (table.parent / "labels.csv").exists()


def test_a_folder_of_images_with_its_folders_as_classes(run, folder):
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 200, (2, 16, 16))
    images = [patterns[i % 2] + rng.integers(0, 50, (16, 16)) for i in range(20)]
    names = [f"{'ab'[i % 2]}/{i}.png" for i in range(20)]
    write_images(folder / "pictures", images, names)
    code, out, _ = run(
        "cluster", "pictures", "-k", 2, "--labels", "folders", "--pca", 10, "--n-neighbors", 4,
        "--json", "-q",
    )  # fmt: skip
    summary = json.loads(out)
    assert code == 0
    assert summary["preparation"] == ["scattering", "PCA to 10"]
    assert summary["scores"]["ACC"] == 1.0
    header, rows = read_labels(folder / "labels.csv")
    assert header == "file,cluster"
    assert [row[0] for row in rows][:3] == ["a/0.png", "a/2.png", "a/4.png"]
    assert rows[4][0] == "a/8.png"  # 8 before 10
    assert rows[5][0] == "a/10.png"


def test_features_can_be_scaled_and_reduced(run, folder, points):
    np.save("points.npy", points[0] + 5.0)
    code, out, _ = run(
        "cluster", "points.npy", "-k", 3, "--scale", "center", "--pca", 9, "--json", "-q"
    )
    summary = json.loads(out)
    assert code == 0
    assert summary["preparation"] == ["centred", "PCA to 9"]
    assert summary["n_features"] == 9


def test_a_sparse_matrix(run, folder, points):
    sparse.save_npz("points.npz", sparse.csr_array(points[0]))
    code, out, _ = run("cluster", "points.npz", "-k", 3, "--json", "-q")
    assert code == 0
    assert json.loads(out)["n_features"] == 12
    code, _, err = run("cluster", "points.npz", "-k", 3, "--pca", 3, "-o", "b.csv", "-q")
    assert code == 2
    assert "--pca is for dense data; this is a sparse matrix" in err


def test_a_report_is_written_too(run, table):
    code, out, _ = run("cluster", table, "-k", 3, "--labels", "kind", "--report", "r.html", "-q")
    assert code == 0
    assert "labels.csv, r.html" in out
    page = (table.parent / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "type 1" in page
