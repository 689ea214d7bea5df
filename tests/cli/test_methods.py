import inspect

import numpy as np
import pytest

import dssc
from dssc.cli.methods import METHODS, PARAMETERS, parameter_details


def test_every_parameter_of_every_estimator_is_an_option():
    elsewhere = {"n_clusters", "random_state", "verbose", "warm_start", "invalid_rows"}
    elsewhere.add("checkpoint")  # for Dask arrays, which the command does not read
    names = {
        name
        for estimator in METHODS.values()
        for name in inspect.signature(getattr(dssc, estimator)).parameters
    }
    assert names - elsewhere == set(PARAMETERS)


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("adssc", "graph")])
def test_every_method_runs(run, folder, points, method):
    np.save("points.npy", points[0])
    code, out, _ = run("cluster", "points.npy", "-k", 3, "-m", method, "-q")
    assert code == 0
    assert f"{METHODS[method]}: 3 clusters" in out
    proved = method in ("jdssc", "ssc", "ensc")
    assert ("certificate  none" not in out) == proved


@pytest.mark.parametrize(
    ("name", "details"),
    [
        ("eta1", "adssc, jdssc; default: not set, jdssc: 1"),
        ("eta3", "adssc, jdssc; default: 0"),
        ("n_neighbors", "all but jdssc; default: 12, adssc: not set, tsc: 5, graph: 20"),
        (
            "affinity",
            "all but adssc, jdssc; symmetric or doubly_stochastic; default: symmetric, "
            "graph: precomputed",
        ),
        ("signed", "adssc; default: not set"),
        ("symmetric", "adssc; default: yes"),
        ("gamma", "ssc, ensc, lsr; default: 50, lsr: 1"),
        ("solver", "jdssc; auto or splitting or newton or linearized-admm; default: auto"),
        ("assign_labels", "kmeans or cluster_qr; default: kmeans"),
        ("n_init", "default: 10"),
        ("device", "adssc, jdssc; default: not set"),
        ("tol", "default: 1e-08, jdssc: 1e-06"),
        ("max_iter", "default: 1000, jdssc: not set"),
    ],
)
def test_the_help_has_the_methods_choices_and_defaults_of_a_parameter(name, details):
    assert parameter_details(name) == details


@pytest.mark.parametrize("name", PARAMETERS)
def test_the_help_has_every_default_of_the_estimators(name):
    details = parameter_details(name)
    for estimator in METHODS.values():
        parameters = inspect.signature(getattr(dssc, estimator)).parameters
        if name in parameters:
            default = parameters[name].default
            if default is None:
                assert "not set" in details
            elif isinstance(default, bool):
                assert ("yes" if default else "no") in details
            else:
                assert str(default).removesuffix(".0") in details


def test_the_help_of_cluster_shows_defaults(run):
    _, out, _ = run("cluster", "--help")
    assert "[adssc, jdssc; default: not set, jdssc: 1]" in " ".join(out.split())


def test_choices_are_those_of_the_estimator(run, table):
    code, _, err = run("cluster", table, "-k", 3, "-m", "lsr", "--affinity", "cosine")
    assert code == 2
    assert "--affinity cosine must be symmetric or doubly_stochastic" in err


def test_a_parameter_of_another_method_is_refused(run, table):
    code, _, err = run("cluster", table, "-k", 3, "--gamma", 2)
    assert code == 2
    assert "--gamma is not a parameter of --method adssc, which has --eta1, --eta2" in err
