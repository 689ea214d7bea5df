import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.neighbors import kneighbors_graph

from dssc import clustering_accuracy
from dssc.cli.main import main


@pytest.fixture
def moons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = make_moons(200, noise=0.05, random_state=0)
    sparse.save_npz("graph.npz", kneighbors_graph(X, 10))
    np.save("points.npy", X)
    return y


def test_from_a_graph_to_labels_in_one_line(moons, capsys):
    assert main(["cluster", "graph.npz", "-k", "2", "--method", "graph", "-o", "labels.npy"]) == 0
    assert clustering_accuracy(moons, np.load("labels.npy")) == 1.0
    printed = capsys.readouterr().out
    assert "200 samples, with their similarities\nGraphClustering: 2 clusters" in printed


def test_features_become_a_graph_and_outliers_get_no_cluster(moons, capsys):
    options = "--method graph --affinity nearest_neighbors --contamination .05 -o labels.npy"
    assert main(f"cluster points.npy -k 2 {options} --report page.html".split()) == 0
    labels = np.load("labels.npy")
    assert np.count_nonzero(labels < 0) == 10
    kept = labels >= 0
    assert clustering_accuracy(moons[kept], labels[kept]) == 1.0


def test_a_wrong_shape_names_the_remedy(moons, capsys):
    assert main(["cluster", "points.npy", "-k", "2", "--method", "graph"]) != 0
    assert "affinity='nearest_neighbors'" in capsys.readouterr().err


def test_points_without_an_edge_are_named_or_passed_over(moons, capsys):
    graph = sparse.lil_array(sparse.load_npz("graph.npz"))
    graph[7, :] = 0.0
    graph[:, 7] = 0.0
    sparse.save_npz("lone.npz", sparse.csr_array(graph))
    assert main(["cluster", "lone.npz", "-k", "2", "--method", "graph"]) == 2
    assert "1 points without similarity to any other: 7;" in capsys.readouterr().err
    assert (
        main(
            [
                "cluster",
                "lone.npz",
                "-k",
                "2",
                "--method",
                "graph",
                "--skip-bad",
                "-o",
                "labels.npy",
            ]
        )
        == 0
    )
    assert np.flatnonzero(np.load("labels.npy") < 0).tolist() == [7]
    assert "1 (label -1)" in capsys.readouterr().out
