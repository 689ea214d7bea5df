import json

import pytest

from dssc.paper import execution, loading
from dssc.paper.experiments import runtime_jobs


@pytest.fixture
def tiny(monkeypatch, points):
    """Every data set is 90 points of three subspaces."""
    sizes = {"title": "points", "n": 90, "clusters": 3}
    monkeypatch.setattr(execution, "load", lambda name, device="cpu": points)
    monkeypatch.setitem(loading.paper_data("datasets"), "orl", sizes)
    return ("paper", "table1", "--datasets", "orl", "--out", "out")


def lines(folder):
    return [
        json.loads(text)
        for text in (folder / "out" / "results.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def test_a_table_is_run_resumed_and_rendered(run, folder, tiny):
    code, out, err = run(*tiny, "--methods", "tsc,a-dssc", "--quick")
    assert code == 0
    assert "wrote out/table1.md" in out
    assert "table1 2 of 2" in err
    by_method = {line["method"]: line for line in lines(folder)}
    assert set(by_method) == {"TSC", "A-DSSC"}
    assert by_method["A-DSSC"]["ACC"] == 1.0
    assert "converged" in by_method["A-DSSC"]["status"]
    code, _, err = run(*tiny, "--methods", "tsc", "--quick")
    assert code == 4
    assert "add --resume" in err
    code, _, err = run(*tiny, "--methods", "tsc,lsr", "--quick", "--resume")
    assert code == 0
    assert [line["method"] for line in lines(folder)][2:] == ["LSR"]
    assert len(lines(folder)) == 3
    assert run(*tiny, "--render")[0] == 0
    assert len(lines(folder)) == 3


def test_a_grid_ends_with_all_runs_at_its_best_point(run, folder, tiny):
    assert run(*tiny, "--methods", "lsr")[0] == 0
    results = lines(folder)
    assert [line["runs"] for line in results] == [10] * 7 + [100] * 3
    assert results[-1]["n_init"] == 10
    assert "(best of 7)" in (folder / "out" / "table1.md").read_text(encoding="utf-8")


def test_a_device_is_for_the_methods_that_can_use_it(run, folder, tiny):
    pytest.importorskip("torch")
    execution.compiled_methods.clear()
    command = (*tiny, "--methods", "a-dssc-neighbours,a-dssc", "--quick")
    assert run(*command, "--device", "torch")[0] == 0
    by_method = {line["method"]: line for line in lines(folder)}
    assert {method: line["device"] for method, line in by_method.items()} == {
        "A-DSSC": "cpu",
        "A-DSSC-neighbours": "torch",
    }
    assert by_method["A-DSSC-neighbours"]["ACC"] == 1.0
    assert by_method["A-DSSC-neighbours"]["machine"].startswith("torch on the CPU, ")
    assert "torch" not in by_method["A-DSSC"]["machine"]
    # Done is done, wherever it was.
    assert run(*command, "--resume")[0] == 0
    assert len(lines(folder)) == 2
    text = (folder / "out" / "table1.md").read_text(encoding="utf-8")
    assert text.count(" (torch) |") == 1


def test_an_interruption_keeps_what_was_found(run, folder, tiny, monkeypatch):
    run_job = execution.run_job

    def interrupted(job, **options):
        if job["parameters"]["gamma"] == 1:
            raise KeyboardInterrupt
        return run_job(job, **options)

    monkeypatch.setattr(execution, "run_job", interrupted)
    code, _, err = run(*tiny, "--methods", "lsr")
    assert code == 130
    assert "3 results are kept in out/results.jsonl; continue with --resume" in err
    monkeypatch.setattr(execution, "run_job", run_job)
    assert run(*tiny, "--methods", "lsr", "--resume")[0] == 0
    assert [line["runs"] for line in lines(folder)] == [10] * 7 + [100] * 3


def without_data(monkeypatch, available):
    """Make only some data sets available: the load of any other one fails."""
    load = execution.load

    def load_available(name, device="cpu"):
        if name not in available:
            raise loading.MissingData(f"{name} is missing; run dssc datasets --fetch {name}")
        return load(name, device)

    monkeypatch.setattr(execution, "load", load_available)


def test_missing_data_are_said_to_be_missing_once(run, folder, tiny, monkeypatch):
    without_data(monkeypatch, ["orl"])
    command = ("paper", "table1", "--datasets", "yaleb,orl", "--quick", "--out", "out")
    code, _, err = run(*command, "--methods", "tsc,lsr,a-dssc")
    assert code == 0
    assert err.count("yaleb is missing") == 1
    assert "cannot be run: " in (folder / "out" / "table1.md").read_text(encoding="utf-8")
    assert any(line.get("missing") for line in lines(folder))


def test_without_any_data_nothing_is_run(run, folder, monkeypatch):
    monkeypatch.setenv("DSSC_DATA", str(folder))
    loading.load.cache_clear()
    command = ("paper", "table1", "--datasets", "yaleb,orl", "--out", "out")
    code, out, err = run(*command)
    assert code == 2
    assert out == ""
    assert len(err.splitlines()) == 1
    assert "none of the data sets (orl, yaleb) is available; for example: " in err
    assert not (folder / "out").exists()


def test_runtimes_need_no_data_when_quick(run, folder, monkeypatch):
    small = [job for job in runtime_jobs(quick=True) if job["method"] in ("newton", "active-set")]
    monkeypatch.setattr("dssc.cli.paper.jobs_of", lambda *arguments: small)
    assert run("paper", "runtimes", "--quick", "--out", "out")[0] == 0
    assert all(line["reached"] for line in lines(folder))
    assert "(n = 200)" in (folder / "out" / "runtimes.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table1", "--datasets", "cifar"], "--datasets: 'cifar' is not one of yaleb, coil40"),
        (["table1", "--methods", "kmeans"], "--methods: 'kmeans' is not one of SSC, EnSC"),
        (["runtimes", "--methods", "ssc"], "are for tables, not for runtimes"),
        (["table1", "--jobs", "0"], "--jobs 0 must be at least 1"),
        (["table1", "--device", "tpu"], "--device: device='tpu' must be 'cpu', 'cuda'"),
        (["table3"], "invalid choice: 'table3'"),
    ],
)
def test_refuses(run, folder, arguments, message):
    code, _, err = run("paper", *arguments)
    assert code == 2
    assert message in err
    assert not (folder / "paper-results").exists()


def test_a_damaged_file_of_results_is_named(run, folder, tiny):
    (folder / "out").mkdir()
    (folder / "out" / "results.jsonl").write_text("{}\nnoise\n", encoding="utf-8")
    code, _, err = run(*tiny, "--render")
    assert code == 2
    assert "results.jsonl, line 2 is not JSON" in err


def test_a_folder_of_results_that_cannot_be_made_is_named(run, folder, tiny):
    (folder / "out").write_text("a file", encoding="utf-8")
    code, _, err = run(*tiny, "--quick")
    assert code == 4
    assert "cannot write to out" in err
