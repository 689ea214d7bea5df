import pytest

from dssc.paper.experiments import clustering_job, points
from dssc.paper.table_rows import table_rows
from tests.paper.example_lines import example_line


def rows(lines, table="table1"):
    return {(row.data, row.method): row for row in table_rows(table, lines)}


def test_ours_stands_beside_the_papers():
    row = rows([example_line("orl", "TSC", {"n_neighbors": 7}, 0.8)])["orl", "TSC"]
    assert row.difference("ACC") == pytest.approx(0.8 - 0.783)
    assert row.note == "n_neighbors=7 (best of 1 of 14)"
    assert rows([])["yaleb", "S3COMP"].difference("NMI") is None


def test_rows_that_are_not_run_are_shown_as_such():
    by_name = rows([{**clustering_job("LSR", "orl", {"gamma": 1}, 10, 1), "error": "C is zero"}])
    assert by_name["orl", "LSR"].note == "cannot be run: C is zero"
    assert by_name["orl", "SSC"].note == "not run"
    assert by_name["orl", "DSC-Net"].note == "not run"
    assert by_name["coil40_scattered", "DSC-Net"].note == "not run: needs images"
    assert rows([], "neural")["orl", "DASC"].note == "not run: quoted from its authors"
    assert by_name["orl", "DSC-Net"].paper["ACC"] == 0.758
    lack = {**clustering_job("TSC", "yaleb", {}, 10, 1), "error": "no files", "missing": True}
    assert rows([lack])["yaleb", "LSR"].note == "cannot be run: no files"
    large = rows([], "table2")
    assert large["emnist_scattered", "A-DSSC"].note == "not run"
    assert large["emnist_part_scattered", "A-DSSC"].paper == {}


def test_variants_that_are_not_meant_for_a_size_are_left_out():
    by_name = rows([], "table2")
    assert ("mnist_scattered", "S3COMP") in by_name
    assert ("mnist_scattered", "A-DSSC-neighbours") in by_name
    assert ("mnist_scattered", "A-DSSC-around") not in by_name


def test_the_best_point_is_chosen_among_those_with_all_runs():
    lines = [
        example_line("orl", "TSC", {"n_neighbors": 3}, 0.70, runs=10),
        example_line("orl", "TSC", {"n_neighbors": 7}, 0.80, runs=10),
        example_line("orl", "TSC", {"n_neighbors": 7}, 0.79),
        example_line("orl", "TSC", {"n_neighbors": 3}, 0.75),
    ]
    row = rows(lines)["orl", "TSC"]
    assert (row.ours["ACC"], row.ours["runs"]) == (0.79, 100)


def test_runs_with_other_seeds_are_not_mixed():
    plain = example_line("mnist_scattered", "TSC", {"n_neighbors": 12}, 0.9)
    del plain["seeds"]
    assert rows([plain], "table2")["mnist_scattered", "TSC"].ours is None
    greedy = {**plain, "seeds": "greedy", "ACC": 0.8}
    assert rows([plain, greedy], "table2")["mnist_scattered", "TSC"].ours is None
    ten = {**plain, "seeds": "best of ten", "ACC": 0.7}
    assert rows([plain, greedy, ten], "table2")["mnist_scattered", "TSC"].ours["ACC"] == 0.7


def test_best_is_bold_ours_and_the_papers_apart():
    lines = [
        example_line("orl", "TSC", {"n_neighbors": 7}, 0.8),
        example_line("orl", "LSR", {"gamma": 1}, 0.7),
    ]
    by_name = rows(lines)
    assert by_name["orl", "TSC"].best == {"ACC", "NMI", "SPE"}
    assert by_name["orl", "LSR"].best == set()
    assert by_name["orl", "DSC-Net-PP"].best == {"paper ACC", "paper NMI"}
    assert "paper SPE" in by_name["orl", "A-DSSC"].best
    assert by_name["orl", "A-DSSC-grid"].best == set()
    assert not by_name["umist_scattered", "DSC-Net"].best


def test_a_network_is_the_mean_of_its_trainings():
    (point,) = points("DSC-Net-PP", "orl")
    trained = [
        {**example_line("orl", "DSC-Net-PP", point, acc), "seed": seed}
        for seed, acc in enumerate((0.5, 0.9, 0.84, 0.86))
    ]
    trained[0]["seed"] = 1  # repeated later, which replaces it
    for table, paper in (("table1", 0.845), ("neural", 0.860)):
        row = rows(trained, table)["orl", "DSC-Net-PP"]
        assert row.ours["ACC"] == pytest.approx((0.9 + 0.84 + 0.86) / 3)
        assert row.paper["ACC"] == paper
        assert "(3 trainings, ACC 0.840 to 0.900)" in row.note
    # The comparison with networks has numbers of Table 1 where the appendix has none.
    assert rows([], "neural")["coil40", "DSC-Net-PP"].paper["ACC"] == 0.751
    assert ("coil40", "DASC") not in rows([], "neural")
