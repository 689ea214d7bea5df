"""The data files, compared with the paper by eye, and checked for consistency."""

import pytest

import dssc
from dssc.paper.published import METRICS, paper_data, published_numbers

# Table, data set, method and ACC, NMI, SPE, NNZ, read off the paper's tables one by one.
BY_EYE = [
    ("table1", "yaleb", "SSC", (0.654, 0.734, 0.217, 22.9)),
    ("table1", "yaleb", "S3COMP", (0.874, "---", 0.203, "---")),
    ("table1", "yaleb", "DSC-Net-PP", (0.971, 0.961, 0.038, 22.1)),
    ("table1", "yaleb", "A-DSSC", (0.917, 0.947, 0.080, 14.4)),
    ("table1", "coil40", "SSC-OMP", (0.411, 0.605, 0.025, 2.9)),
    ("table1", "coil40_scattered", "EnSC", (0.993, 0.995, 0.0, 4.0)),
    ("table1", "coil40_scattered", "DSC-Net", ("N/A", "N/A", "N/A", "N/A")),
    ("table1", "coil40_scattered", "J-DSSC", (1.0, 1.0, 0.00006, 13.8)),
    ("table1", "coil100", "TSC", (0.723, 0.904, 0.057, 3.6)),
    ("table1", "coil100", "S3COMP", (0.789, "---", 0.032, "---")),
    ("table1", "coil100_scattered", "A-DSSC", (0.984, 0.997, 0.001, 6.6)),
    ("table1", "umist", "LRSC", (0.494, 0.662, 0.824, 575)),
    ("table1", "umist", "J-DSSC", (0.732, 0.858, 0.036, 5.1)),
    ("table1", "umist_scattered", "LSR", (0.524, 0.701, 0.758, 574)),
    ("table1", "orl", "DSC-Net", (0.758, 0.878, 0.885, 400)),
    ("table1", "orl", "A-DSSC", (0.790, 0.910, 0.159, 9.8)),
    ("table2", "mnist_scattered", "TSC", (0.980, 0.946, 0.028, 18.1)),
    ("table2", "emnist_scattered", "SSC", (0.638, 0.745, 0.173, 22.3)),
    ("table2", "emnist_scattered", "A-DSSC", (0.744, 0.832, 0.100, 17.5)),
]


@pytest.mark.parametrize(("table", "data", "method", "numbers"), BY_EYE)
def test_numbers_are_those_of_the_paper(table, data, method, numbers):
    assert tuple(published_numbers(table)[data][method][metric] for metric in METRICS) == numbers


def test_the_neural_table_repeats_what_tables_1_and_2_say_of_ours():
    both = published_numbers("table1") | published_numbers("table2")
    for data, methods in published_numbers("neural").items():
        for method in ("J-DSSC", "A-DSSC"):
            ours = both[data].get(method, {"ACC": "---"})["ACC"]
            assert methods[method]["ACC"] == ours, (data, method)
    assert published_numbers("neural")["coil100_scattered"]["MLRDSC-DA"]["ACC"] == 0.793
    assert published_numbers("neural")["mnist_scattered"]["kSCN"]["ACC"] == 0.871


def test_runtimes_are_those_of_the_paper():
    solvers = paper_data("runtimes")["solvers"]
    assert solvers["alternating"]["seconds"] == ["NC", "NC", 118, 264]
    assert solvers["active-set"]["seconds"] == [1.64, 12.2, 0.49, 2.05]


def test_bold_numbers_of_the_paper_are_the_best():
    best = {data: max(methods, key=lambda m: _sortable(methods[m]["ACC"]))
            for data, methods in published_numbers("table1").items()}  # fmt: skip
    assert best["yaleb"] == best["orl"] == "DSC-Net-PP"
    assert best["umist"] == "J-DSSC"
    assert best["coil40"] == best["coil100"] == best["coil100_scattered"] == "A-DSSC"


def _sortable(number):
    return number if isinstance(number, float) else -1.0


@pytest.mark.parametrize("table", ["table1", "table2", "neural"])
def test_every_table_is_complete(table):
    content = paper_data(table)
    for data, metrics in content.items():
        if data == "methods":
            continue
        assert data in paper_data("datasets")
        for numbers in metrics.values():
            assert len(numbers) == len(content["methods"])
    assert set(content["methods"]) <= set(paper_data("methods"))


@pytest.mark.parametrize("name", list(paper_data("methods")))
def test_every_point_is_one_the_estimator_takes(name):
    entry = paper_data("methods")[name]
    if "not_run" in entry or "network" in entry:
        return
    estimator = getattr(dssc, entry["estimator"])()
    choice = entry.get("chosen", {})
    choice = paper_data("methods")[choice]["chosen"] if isinstance(choice, str) else choice
    chosen = [*choice.values(), entry.get("factors", {})]
    assert set(choice) <= set(paper_data("datasets"))
    places = [dict.fromkeys(entry["grid"])] if "grid" in entry else []
    for point in [*chosen, *places, entry.get("large", {}), entry.get("quick", {})]:
        assert point.keys() | entry.get("fixed", {}).keys() <= estimator.get_params().keys()


@pytest.mark.parametrize(
    "name",
    [n for n, e in paper_data("methods").items() if e.get("device") and not e.get("network")],
)
def test_methods_for_a_device_have_the_parameter(name):
    entry = paper_data("methods")[name]
    assert "device" in getattr(dssc, entry["estimator"])().get_params()
    assert entry.get("fixed", {}).get("symmetric", True)


def test_chosen_parameters_are_those_of_the_paper():
    chosen = paper_data("methods")["J-DSSC"]["chosen"]
    assert chosen["orl"] == {"eta1": 1.0, "eta2": 0.1, "eta3": 0.1}
    assert chosen["coil100_scattered"] == {"eta1": 0.25, "eta2": 0.1, "eta3": 0.0}
    chosen = paper_data("methods")["A-DSSC"]["chosen"]
    assert chosen["coil100"] == {"eta1": 50.0, "eta2": 0.0005, "eta3": 0.0}
    assert chosen["mnist_scattered"] == {"eta1": 10.0, "eta2": 0.001, "eta3": 0.0}


def test_networks_are_those_of_their_authors_and_of_the_appendix():
    networks = paper_data("networks")
    assert list(networks) == ["yaleb", "coil40", "coil100", "umist", "orl"]
    assert networks["orl"]["channels"] == [3, 3, 5]
    assert networks["umist"]["channels"] == [15, 10, 5]
    assert networks["yaleb"]["expression_weight"] == pytest.approx(10 ** (38 / 10 - 3), abs=1e-4)
    assert networks["coil40"]["postprocessing"] == networks["coil100"]["postprocessing"]
