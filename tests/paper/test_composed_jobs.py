from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.utils import Bunch

from dssc import LSR
from dssc.paper import composed_jobs
from dssc.paper.composition import cluster_representation
from dssc.paper.execution import run_job
from dssc.paper.experiments import jobs_of
from dssc.paper.published import paper_data
from dssc.paper.runner import Results
from dssc.paper.table_rows import result_text


@pytest.fixture
def tiny(monkeypatch):
    """ORL is 24 small images of two classes, and its network is small too."""
    rng = np.random.default_rng(0)
    base = np.zeros((2, 8, 8))
    base[0, :, :4] = base[1, :4] = 200.0
    images = np.repeat(base, 12, axis=0) + rng.uniform(0, 40, (24, 8, 8))
    y = np.repeat([0, 1], 12)
    bunch = Bunch(images=images, data=images.reshape(24, -1), target=y)
    monkeypatch.setattr(composed_jobs, "fetch", lambda name: bunch)
    monkeypatch.setattr(composed_jobs, "load", lambda name: (bunch.data, y))
    network = {**paper_data("networks")["orl"], "kernels": [3], "channels": [4], "steps": 100}
    monkeypatch.setitem(paper_data("networks"), "orl", network)
    sizes = {"title": "images", "n": 24, "clusters": 2}
    monkeypatch.setitem(paper_data("datasets"), "orl", sizes)
    composed_jobs.trained_network.cache_clear()


def job_for(method):
    return jobs_of("table1", ["orl"], [method], quick=True)[0]


def test_methods_share_a_training(tiny, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from dssc.paper import training

    monkeypatch.setattr(training, "MOST_STEPS", 300)
    lines = {
        method: run_job(job_for(method), tmp_path)
        for method in ("DSC-Net", "DSC-Net-DS", "DSC-Net-PP")
    }
    assert composed_jobs.trained_network.cache_info().misses == 1
    assert all(line["ACC"] == 1.0 for line in lines.values())
    assert len({line["loss"] for line in lines.values()}) == 1
    assert lines["DSC-Net"]["ACC_by_kind"] == {"plain": 1.0, "discretised": 1.0}
    assert lines["DSC-Net"]["NNZ"] == 24
    assert lines["DSC-Net-PP"]["NNZ"] < lines["DSC-Net-DS"]["NNZ"] < 24
    assert "converged" in lines["DSC-Net-DS"]["status"]
    assert ", seed=0: ACC 1.000" in result_text(lines["DSC-Net"])


def test_seconds_count_the_training_once(tiny, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    job = job_for("DSC-Net")
    C = np.kron(np.eye(2), np.ones((12, 12)))
    training = SimpleNamespace(representation=C, pretraining_steps=1, explained=0.5, loss=1.0)
    monkeypatch.setattr(composed_jobs, "trained_network", lambda *given: (training, 1000.0))
    assert 1000 <= run_job(job, tmp_path)["seconds"] < 1100


def test_any_self_expression_can_be_post_processed(tiny, tmp_path):
    line = run_job(job_for("LSR-PP"), tmp_path)
    assert line["ACC"] == 1.0
    assert 0 < line["NNZ"] < 23


def test_images_that_occur_twice_express_each_other_as_in_the_paper(tiny, tmp_path, monkeypatch):
    X, y = composed_jobs.load("orl")
    X = np.vstack([X[:1], X[:-1]])  # the first image twice
    monkeypatch.setattr(composed_jobs, "load", lambda name: (X, y))
    clustered = []

    def cluster(C, *given):
        clustered.append(C)
        return cluster_representation(C, *given)

    monkeypatch.setattr(composed_jobs, "cluster_representation", cluster)
    job = job_for("LSR-PP")
    run_job(job, tmp_path)
    expected = LSR(2, gamma=job["parameters"]["gamma"], merge_copies=False, random_state=0).fit(X)
    np.testing.assert_allclose(clustered[0], expected.representation_matrix_, atol=1e-12)
    assert clustered[0][0].argmax() == 1


def test_without_torch_the_extra_is_named_and_the_job_is_tried_again(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(
        composed_jobs, "find_spec", lambda name: None if name == "torch" else find_spec(name)
    )
    job = job_for("DSC-Net")
    line = run_job(job, tmp_path)
    assert "pip install 'dssc[gpu]'" in line["error"]
    results = Results(tmp_path / "results.jsonl")
    results.add(line)
    results.add(line)
    assert len(results.lines) == 1
    assert results.pending([job]) == [job]


def test_many_images_are_left_to_a_gpu(tiny, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.setitem(paper_data("datasets")["orl"], "n", 7200)
    line = run_job(job_for("DSC-Net"), tmp_path)
    assert line["error"] == "DSC-Net for 7200 images needs a GPU; add --device cuda"
