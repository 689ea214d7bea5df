from itertools import product

import pytest

from dssc.paper.experiments import best_jobs, clustering_job, job_key, jobs_of, methods_of, points
from dssc.paper.published import paper_data, published_numbers


def test_every_row_of_a_table_has_its_methods():
    assert set(paper_data("table1")["methods"]) <= set(methods_of("table1"))
    assert "LSR" not in methods_of("table2")
    assert set(paper_data("neural")["methods"]) <= set(methods_of("neural"))


def test_the_papers_own_parameters_are_one_job_with_all_runs():
    jobs = jobs_of("table1", methods=["A-DSSC"])
    assert {job["data"] for job in jobs} == set(published_numbers("table1"))
    assert all((job["runs"], job["n_init"], job["seed"]) == (100, 10, 0) for job in jobs)
    (yale,) = (job for job in jobs if job["data"] == "yaleb")
    expected = {"eta1": 0.5, "eta2": 0.1, "eta3": 0.0, "symmetric": False}
    assert yale["parameters"] == expected


def test_a_choice_can_be_shared_and_varied():
    (chosen,) = points("A-DSSC", "orl")
    around = points("A-DSSC-around", "orl")
    assert chosen in around
    assert len(around) == 49
    assert {point["eta1"] / chosen["eta1"] for point in around} == {0.5, 0.7, 1, 1.4, 2, 2.8, 4}
    longer = points("J-DSSC-longer", "yaleb")
    assert [point.pop("max_iter") for point in longer] == [3000, 4000, 6000, 8000]
    assert longer == points("J-DSSC", "yaleb") * 4
    assert points("A-DSSC-around", "orl", quick=True) == [chosen]
    assert points("J-DSSC-longer", "mnist_scattered") == []
    assert points("J-DSSC-longer", "coil40", quick=True) == points("J-DSSC", "coil40")


def test_a_grid_is_searched_with_few_runs_and_its_best_point_gets_all():
    jobs = jobs_of("table1", ["orl"], ["TSC"])
    assert [job["parameters"]["n_neighbors"] for job in jobs] == list(range(2, 16))
    assert {job["runs"] for job in jobs} == {10}
    results = [{**job, "ACC": 0.1 * job["parameters"]["n_neighbors"]} for job in jobs[:9]]
    results.append({**jobs[9], "error": "C is zero"})
    best = best_jobs(jobs, results)
    assert best == [clustering_job("TSC", "orl", {"n_neighbors": q}, 100, 10) for q in (10, 9, 8)]
    assert best_jobs(jobs, []) == []


def test_cheap_jobs_come_first():
    jobs = jobs_of("table1")
    sizes = {job["data"]: paper_data("datasets")[job["data"]]["n"] for job in jobs}
    lsr = [sizes[job["data"]] for job in jobs if job["method"] == "LSR"]
    assert lsr == sorted(lsr)
    assert jobs[-1]["method"] == "J-DSSC"
    assert len({job_key(job) for job in jobs}) == len(jobs)


def test_a_quick_run_is_small():
    jobs = jobs_of("table1", quick=True)
    assert {job["data"] for job in jobs} == {"orl", "umist", "umist_scattered"}
    assert {job["runs"] for job in jobs} == {10}
    pairs = [(job["data"], job["method"]) for job in jobs]
    assert len(set(pairs)) == len(pairs)
    assert jobs_of("table2", ["mnist_scattered"], quick=True)


def test_methods_that_are_not_run_have_no_jobs():
    for data in ("coil100_scattered", "mnist_scattered"):
        assert points("DSC-Net", data) == points("LSR-PP", data) == []
    assert points("kSCN", "mnist_scattered") == []
    assert points("LSR", "mnist_scattered") == []
    assert points("J-DSSC", "mnist_scattered") == []


def test_networks_are_trained_three_times_where_they_are_compared_or_named():
    methods = ("DSC-Net", "DSC-Net-DS", "DSC-Net-PP")
    named = jobs_of("table1", ["orl"], methods)
    assert [(job["method"], job["seed"]) for job in named] == list(product(methods, range(3)))
    assert {job["method"] for job in jobs_of("neural", ["orl"])} == {*methods, "J-DSSC", "A-DSSC"}
    assert not {job["method"] for job in jobs_of("table1")} & set(methods)
    images = {job["data"] for job in jobs_of("neural", methods=methods)}
    assert images == set(paper_data("networks"))


def test_post_processing_follows_a_network_or_another_method():
    last = {"share": 0.2, "dimension": 3, "power": 1}
    (network,) = points("DSC-Net", "orl")
    assert points("DSC-Net-PP", "orl") == [{**network, **last}]
    assert points("LSR-PP", "orl") == [{**point, **last} for point in points("LSR", "orl")]
    (job,) = jobs_of("table1", ["orl"], ["EnSC-PP"], quick=True)
    assert job["parameters"] == {"gamma": 1, "l1_ratio": 0.9, **last}
    assert job["seeds"] == "discretised"


@pytest.mark.parametrize(("name", "count"), [("runtimes", 20), ("sparsity", 4), ("alternating", 6)])
def test_other_experiments(name, count):
    jobs = jobs_of(name)
    assert len({job_key(job) for job in jobs}) == count
    assert len(jobs_of(name, quick=True)) < count


def test_table_2_runs_the_part_of_emnist_as_its_own_row():
    pairs = {(job["data"], job["method"]) for job in jobs_of("table2")}
    whole = {method for data, method in pairs if data == "emnist_scattered"}
    assert whole >= set(paper_data("table2")["methods"])
    assert set(product(["emnist_part_scattered"], whole)) <= pairs
