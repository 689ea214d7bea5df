import csv

import pytest

from dssc.paper.experiments import clustering, jobs_of
from dssc.paper.pages import clustering_table, write_pages
from dssc.paper.render import Cell, Table
from dssc.paper.rows import table_rows


def result(data, method, parameters, acc, runs=100, **more):
    job = clustering(method, data, parameters, runs, 10 if runs == 100 else 1)
    numbers = {"ACC": acc, "NMI": acc, "SPE": 1 - acc, "NNZ": 5.0, "fit_ACC": acc + 0.01}
    return {**job, **numbers, "seconds": 1.25, **more}


def rows(lines, table="table1"):
    return {(row.data, row.method): row for row in table_rows(table, lines)}


def test_ours_stands_beside_the_papers():
    row = rows([result("orl", "TSC", {"n_neighbors": 7}, 0.8)])["orl", "TSC"]
    assert row.difference("ACC") == pytest.approx(0.8 - 0.783)
    assert row.note == "n_neighbors=7 (best of 1 of 14)"
    assert rows([])["yaleb", "S3COMP"].difference("NMI") is None


def test_rows_that_are_not_run_are_shown_as_such():
    found = rows([{**clustering("LSR", "orl", {"gamma": 1}, 10, 1), "error": "C is zero"}])
    assert found["orl", "LSR"].note == "cannot be run: C is zero"
    assert found["orl", "SSC"].note == "not run"
    assert found["orl", "DSC-Net"].note == "not run: a neural network"
    assert found["orl", "DSC-Net"].paper["ACC"] == 0.758
    lack = {**clustering("TSC", "yaleb", {}, 10, 1), "error": "no files", "missing": True}
    assert rows([lack])["yaleb", "LSR"].note == "cannot be run: no files"
    large = rows([], "table2")
    assert large["emnist_scattered", "A-DSSC"].note == "not run"
    assert large["emnist_part_scattered", "A-DSSC"].paper == {}


def test_variants_that_are_not_meant_for_a_size_are_left_out():
    found = rows([], "table2")
    assert ("mnist_scattered", "S3COMP") in found
    assert ("mnist_scattered", "A-DSSC-neighbours") in found
    assert ("mnist_scattered", "A-DSSC-around") not in found


def test_table_2_says_how_its_runs_are_made():
    (note,) = clustering_table("table2", []).notes
    assert "(best of ten)" in note
    (note,) = clustering_table("table1", []).notes
    assert "best of ten" not in note


def test_the_best_point_is_chosen_among_those_with_all_runs():
    lines = [
        result("orl", "TSC", {"n_neighbors": 3}, 0.70, runs=10),
        result("orl", "TSC", {"n_neighbors": 7}, 0.80, runs=10),
        result("orl", "TSC", {"n_neighbors": 7}, 0.79),
        result("orl", "TSC", {"n_neighbors": 3}, 0.75),
    ]
    row = rows(lines)["orl", "TSC"]
    assert (row.ours["ACC"], row.ours["runs"]) == (0.79, 100)


def test_runs_with_other_seeds_are_not_mixed():
    plain = result("mnist_scattered", "TSC", {"n_neighbors": 12}, 0.9)
    del plain["seeds"]
    assert rows([plain], "table2")["mnist_scattered", "TSC"].ours is None
    greedy = {**plain, "seeds": "greedy", "ACC": 0.8}
    assert rows([plain, greedy], "table2")["mnist_scattered", "TSC"].ours is None
    ten = {**plain, "seeds": "best of ten", "ACC": 0.7}
    assert rows([plain, greedy, ten], "table2")["mnist_scattered", "TSC"].ours["ACC"] == 0.7


def test_best_is_bold_ours_and_the_papers_apart():
    lines = [result("orl", "TSC", {"n_neighbors": 7}, 0.8), result("orl", "LSR", {"gamma": 1}, 0.7)]
    found = rows(lines)
    assert found["orl", "TSC"].best == {"ACC", "NMI", "SPE"}
    assert found["orl", "LSR"].best == set()
    assert found["orl", "DSC-Net-PP"].best == {"paper ACC", "paper NMI"}
    assert "paper SPE" in found["orl", "A-DSSC"].best
    assert found["orl", "A-DSSC-grid"].best == set()
    assert not found["umist_scattered", "DSC-Net"].best


def test_tables_are_written_in_three_ways(tmp_path):
    lines = [result("orl", "TSC", {"n_neighbors": 7}, 0.8)]
    paths = write_pages(["table1", "table2", "neural", "runtimes", "sparsity"], lines, tmp_path)
    assert len(paths) == 15
    markdown = (tmp_path / "table1.md").read_text()
    assert (
        "| ORL | TSC | n_neighbors=7 (best of 1 of 14) | **0.800** | 0.783 | +0.017 |" in markdown
    )
    with (tmp_path / "table1.csv").open(newline="") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["data"], r["method"]) == ("ORL", "TSC"))
    assert (row["ACC"], row["paper ACC"], row["ACC difference"]) == ("0.800", "0.783", "+0.017")
    assert (row["one fit ACC"], row["seconds"], row["runs"]) == ("0.810", "1.2", "100")
    assert "<b>0.800</b>" in (tmp_path / "table1.html").read_text()
    assert "not run" in (tmp_path / "runtimes.md").read_text()


def test_html_is_safe():
    table = Table("a < b", ["x"], [[Cell("<script>", bold=True)]])
    assert "<b>&lt;script&gt;</b>" in table.html()
    assert "<title>a &lt; b</title>" in table.html()


def test_the_fastest_time_is_bold(tmp_path):
    times = {"newton": 0.5, "active-set": 2.0, "lbfgs": None}
    lines = [
        {**job, "seconds": times[job["method"]] or 90.0, "reached": bool(times[job["method"]]),
         "marginal_error": 0.2, "n": 2000}
        for job in jobs_of("runtimes") if job["data"] == "D3" and job["method"] in times
    ]  # fmt: skip
    write_pages(["runtimes"], lines, tmp_path)
    text = (tmp_path / "runtimes.md").read_text()
    assert "**0.50**" in text
    assert "| 2.00 | **0.49** |" in text
    assert "NC (2e-01 after 90 s)" in text


def test_steps_are_compared_with_the_optimum(tmp_path):
    values = [103.0, 102.0, 100.0]
    lines = [
        {**job, "objective": value, "ACC": 0.7, "ACC_of_C": 0.5}
        for job, value in zip(jobs_of("alternating", quick=True), values, strict=True)
    ]
    written = write_pages(["alternating"], lines, tmp_path)
    assert (tmp_path / "alternating.png") in written
    assert "| 1 | 103.0000 | 3.00 % | 0.700 | 0.500 |" in (tmp_path / "alternating.md").read_text()


def test_a_row_searched_with_few_runs_says_so():
    table = clustering_table("table1", [result("orl", "TSC", {"n_neighbors": 7}, 0.8, runs=10)])
    (row,) = (row for row in table.rows if (row[0].text, row[1].text) == ("ORL", "TSC"))
    assert [cell.text for cell in row[-4:]] == ["", "1.2", "", "10"]


def test_seconds_name_another_device_and_the_peak_is_in_gigabytes():
    line = result("orl", "TSC", {"n_neighbors": 7}, 0.8, device="cuda", peak_MB=1536)
    table = clustering_table("table1", [line])
    (row,) = (row for row in table.rows if (row[0].text, row[1].text) == ("ORL", "TSC"))
    assert [cell.text for cell in row[-3:]] == ["1.2 (cuda)", "1.50", "100"]
