import csv

from dssc.paper.experiments import jobs_of
from dssc.paper.pages import clustering_table, write_pages
from tests.paper.example_lines import example_line


def test_table_2_says_how_its_runs_are_made():
    (note,) = clustering_table("table2", []).notes
    assert "(best of ten)" in note
    (note,) = clustering_table("table1", []).notes
    assert "best of ten" not in note


def test_tables_are_written_in_three_ways(tmp_path):
    lines = [example_line("orl", "TSC", {"n_neighbors": 7}, 0.8)]
    paths = write_pages(["table1", "table2", "neural", "runtimes", "sparsity"], lines, tmp_path)
    assert len(paths) == 16
    markdown = (tmp_path / "table1.md").read_text(encoding="utf-8")
    assert (
        "| ORL | TSC | n_neighbors=7 (best of 1 of 14) | **0.800** | 0.783 | +0.017 |" in markdown
    )
    with (tmp_path / "table1.csv").open(newline="", encoding="utf-8") as file:
        (row,) = (r for r in csv.DictReader(file) if (r["data"], r["method"]) == ("ORL", "TSC"))
    assert (row["ACC"], row["paper ACC"], row["ACC difference"]) == ("0.800", "0.783", "+0.017")
    assert (row["one fit ACC"], row["seconds"], row["runs"]) == ("0.810", "1.2", "100")
    assert "<b>0.800</b>" in (tmp_path / "table1.html").read_text(encoding="utf-8")
    assert "not run" in (tmp_path / "runtimes.md").read_text(encoding="utf-8")


def test_the_fastest_time_is_bold(tmp_path):
    times = {"newton": 0.5, "active-set": 2.0, "lbfgs": None}
    lines = [
        {**job, "seconds": times[job["method"]] or 90.0, "reached": bool(times[job["method"]]),
         "marginal_error": 0.2, "n": 2000}
        for job in jobs_of("runtimes") if job["data"] == "D3" and job["method"] in times
    ]  # fmt: skip
    write_pages(["runtimes"], lines, tmp_path)
    text = (tmp_path / "runtimes.md").read_text(encoding="utf-8")
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
    assert "| 1 | 103.0000 | 3.00 % | 0.700 | 0.500 |" in (tmp_path / "alternating.md").read_text(
        encoding="utf-8"
    )


def test_a_row_searched_with_few_runs_says_so():
    table = clustering_table(
        "table1", [example_line("orl", "TSC", {"n_neighbors": 7}, 0.8, runs=10)]
    )
    (row,) = (row for row in table.rows if (row[0].text, row[1].text) == ("ORL", "TSC"))
    assert [cell.text for cell in row[-4:]] == ["", "1.2", "", "10"]


def test_seconds_name_another_device_and_the_peak_is_in_gigabytes():
    line = example_line("orl", "TSC", {"n_neighbors": 7}, 0.8, device="cuda", peak_MB=1536)
    table = clustering_table("table1", [line])
    (row,) = (row for row in table.rows if (row[0].text, row[1].text) == ("ORL", "TSC"))
    assert [cell.text for cell in row[-3:]] == ["1.2 (cuda)", "1.50", "100"]


def test_the_overview_compares_methods_on_the_data_sets_that_were_run(tmp_path):
    lines = [
        example_line("yaleb", "TSC", {"n_neighbors": 3}, 0.49),
        example_line("orl", "TSC", {"n_neighbors": 7}, 0.8),
        example_line("orl", "LSR-PP", {"gamma": 1}, 0.7),
    ]
    write_pages(["table1"], lines, tmp_path)
    rows = [
        line.split(" | ")
        for line in (tmp_path / "overview.md").read_text(encoding="utf-8").splitlines()
    ]
    header = next(row for row in rows if row[0].startswith("| ACC"))
    by_method = {row[0]: dict(zip(header, row, strict=False)) for row in rows if len(row) > 1}
    assert header[:2] == ["| ACC, ours / paper", "Yale-B"]
    assert len(header) == 3
    assert by_method["| TSC"]["ORL |"] == ".800 / .783 |"
    assert by_method["| TSC"]["Yale-B"] == "**.490 / .514**"
    assert by_method["| SSC"]["ORL |"] == "- / .774 |"
    (note,) = (row[0] for row in rows if row[0].startswith("Of "))
    assert note.startswith("Of 2 accuracies of the paper that were run, 1 are within .02 of ours; ")
    # The paper's number for LSR is in the row of LSR only.
    assert by_method["| LSR, DSC-Net's post-processing"]["ORL |"] == ".700 / - |"
    assert "| A-DSSC, the paper's grid" not in by_method
