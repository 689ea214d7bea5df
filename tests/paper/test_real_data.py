"""The paper's claims on its data."""

import time
from pathlib import Path

import pytest

from dssc.cli.main import main
from dssc.paper.execution import run_job
from dssc.paper.experiments import jobs_of
from dssc.paper.published import published_numbers

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("data", ["orl", "umist", "umist_scattered", "yaleb", "coil40", "coil100"])
def test_a_dssc_at_the_papers_parameters(data, data_home, tmp_path):
    (job,) = jobs_of("table1", [data], ["A-DSSC"])
    result, paper = run_job(job, tmp_path), published_numbers("table1")[data]["A-DSSC"]
    for metric in ("ACC", "NMI", "SPE"):
        assert result[metric] == pytest.approx(paper[metric], abs=0.02), metric
    assert result["NNZ"] == pytest.approx(paper["NNZ"], abs=0.5)


def test_dsc_net_has_the_papers_accuracy_on_orl(data_home, tmp_path):
    pytest.importorskip("torch")
    """Of DSC-Net itself, with the rotation of its authors' code; k-means gives .04 less."""
    for method in ("DSC-Net", "DSC-Net-PP"):
        job = jobs_of("table1", ["orl"], [method])[0]
        result, paper = run_job(job, tmp_path), published_numbers("table1")["orl"][method]
        assert result["SPE"] == pytest.approx(paper["SPE"], abs=0.03)
        assert result["ACC_by_kind"]["discretised"] == pytest.approx(paper["ACC"], abs=0.03)
    for metric in ("ACC", "NMI"):
        assert result[metric] == pytest.approx(paper[metric], abs=0.03), metric


def test_a_quick_table_takes_less_than_three_minutes(data_home, tmp_path):
    start = time.monotonic()
    assert main(["paper", "table1", "--quick", "--jobs", "2", "--out", str(tmp_path)]) == 0
    assert time.monotonic() - start < 180
    text = Path(tmp_path / "table1.md").read_text(encoding="utf-8")
    assert "| DSC-Net | not run |" in text
    assert text.count("| ORL |") == text.count("| UMIST |") > 11


def test_sparsity_falls_with_eta2(data_home, tmp_path):
    jobs = jobs_of("sparsity")
    results = [run_job({**job, "parameters": {**job["parameters"], "max_iter": 400}}, tmp_path)
             for job in (jobs[0], jobs[-1])]  # fmt: skip
    assert results[0]["NNZ"] < results[1]["NNZ"]
    assert (tmp_path / "sparsity-0.1.png").stat().st_size > 1000
