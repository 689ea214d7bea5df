import itertools

import pytest

import dssc
from dssc.paper import execution
from dssc.paper.experiments import jobs_of
from dssc.paper.pages import runtimes_table
from dssc.paper.published import paper_data
from dssc.paper.table_rows import result_text


@pytest.fixture
def small(monkeypatch):
    """Every data set is 45 points of three subspaces."""
    X, y = dssc.make_union_of_subspaces(45, n_subspaces=3, n_features=9, random_state=0)
    monkeypatch.setattr(execution, "load", lambda name, device="cpu": (X, y))
    sizes = {**paper_data("datasets")["umist"], "n": len(X), "clusters": 3}
    monkeypatch.setitem(paper_data("datasets"), "umist", sizes)
    return X


def test_a_projection_that_takes_too_long_is_stopped_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setitem(execution.paper_data("runtimes"), "limit", 0.02)
    (job,) = (
        job
        for job in jobs_of("runtimes", quick=True)
        if (job["data"], job["method"]) == ("D4", "alternating")
    )
    line = execution.run_job(job, tmp_path)
    assert (line["limit"], line["reached"], line["n"]) == (0.02, False, 400)
    assert result_text(line).endswith("stopped after 0.02 s")
    cells = [cell.text for row in runtimes_table([line]).rows for cell in row]
    assert "NC (stopped after 0.02 s) (n = 400)" in cells


def test_a_larger_eta2_gives_a_denser_affinity(small, tmp_path):
    pytest.importorskip("matplotlib")
    jobs = jobs_of("sparsity")
    lines = [execution.run_job(job, tmp_path) for job in (jobs[0], jobs[-1])]
    assert [line["n"] for line in lines] == [45, 45]
    assert 1 <= lines[0]["NNZ"] < lines[1]["NNZ"] <= 45
    assert 0 <= lines[0]["SPE"] <= lines[1]["SPE"] <= 1
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["sparsity-0.1.png", "sparsity-1.png"]


def test_alternating_steps_approach_the_optimum(small, tmp_path):
    lines = [execution.run_job(job, tmp_path) for job in jobs_of("alternating")]
    assert not any("error" in line for line in lines)
    *steps, optimum = [line["objective"] for line in lines]
    assert len(steps) == 5
    assert all(later <= earlier * (1 + 1e-9) for earlier, later in itertools.pairwise(steps))
    assert steps[-1] >= optimum - optimum * lines[-1]["gap"]
    assert all(0 < line[score] <= 1 for line in lines for score in ("ACC", "ACC_of_C"))


def test_a_job_that_cannot_be_run_says_why(tmp_path, monkeypatch):
    def fail(job, folder, device):
        raise ValueError("C is zero")

    monkeypatch.setitem(execution.RUNNERS, "sparsity", fail)
    line = execution.run_job(jobs_of("sparsity")[0], tmp_path)
    assert line["error"] == "C is zero"
    assert "missing" not in line
