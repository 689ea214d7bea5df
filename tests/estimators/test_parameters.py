import ast
import inspect
import re

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from dssc import (
    ADSSC,
    JDSSC,
    LRSC,
    LSR,
    S3COMP,
    SSC,
    SSCOMP,
    TSC,
    EnSC,
    GraphClustering,
    make_union_of_subspaces,
)
from dssc.estimators.baseline import BaselineClustering

BASELINES = [LRSC, LSR, S3COMP, SSC, SSCOMP, TSC, EnSC]
ESTIMATORS = [ADSSC, GraphClustering, JDSSC, *BASELINES]


def constructor(estimator):
    return inspect.signature(estimator).parameters


def documented(cls):
    """Return the defaults that the section of parameters in a docstring states."""
    section = inspect.cleandoc(cls.__doc__).split("Parameters\n----------\n")[1]
    section = re.split(r"\n\n\w+\n-+\n", section)[0]
    lines = re.findall(r"^(\w+) : .*, default=(.+)$", section, flags=re.MULTILINE)
    return {name: ast.literal_eval(value) for name, value in lines}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_only_the_number_of_clusters_is_positional(estimator):
    first, *others = constructor(estimator).values()
    assert (first.name, first.default) == ("n_clusters", 8)
    assert first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {parameter.kind for parameter in others} == {inspect.Parameter.KEYWORD_ONLY}
    assert estimator(3).n_clusters == 3


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_defaults_are_those_of_the_documentation(estimator):
    defaults = {name: parameter.default for name, parameter in constructor(estimator).items()}
    shared = documented(BaselineClustering) if estimator in BASELINES else {}
    stated = {**shared, **documented(estimator)}
    assert stated == defaults
    assert {name: type(value) for name, value in stated.items()} == {
        name: type(value) for name, value in defaults.items()
    }


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_parameters_are_kept_as_they_are_given(estimator):
    given = {name: object() for name in constructor(estimator)}
    model = estimator(**given)
    assert model.get_params() == given
    model.set_params(n_clusters=5)
    assert model.get_params() == {**given, "n_clusters": 5}
    changed = estimator(7, n_init=3, random_state=1)
    assert clone(changed) is not changed
    assert clone(changed).get_params() == changed.get_params()
    assert changed.get_params()["n_init"] == 3


@pytest.fixture(scope="module")
def X():
    return make_union_of_subspaces(150, n_subspaces=3, noise=0.05, random_state=0)[0]


@pytest.mark.parametrize(
    "model",
    [
        ADSSC(3, eta1=1.0, n_neighbors=8),
        ADSSC(3, eta1=1.0, eta2=0.05, symmetric=False),
        JDSSC(3, eta2=1.0),
        LSR(3, affinity="doubly_stochastic"),
        EnSC(3, affinity="doubly_stochastic", eta2=0.1),
    ],
)
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
def test_the_mean_number_of_neighbours_is_reported(model, X):
    model = clone(model).set_params(random_state=0).fit(X)
    A = model.affinity_matrix_.toarray()
    np.fill_diagonal(A, 0.0)
    assert model.n_neighbors_ == np.count_nonzero(A > 1e-9) / 150
    assert model.n_neighbors_ > 1


def test_a_symmetric_affinity_has_no_number_of_neighbours(X):
    assert not hasattr(LSR(3, random_state=0).fit(X), "n_neighbors_")


@pytest.mark.parametrize(
    ("given", "is_chosen"),
    [({}, True), ({"eta2": "components"}, True), ({"eta1": 1.0, "n_neighbors": 8}, False)],
)
def test_timings_are_by_stage(given, is_chosen, X):
    timings = ADSSC(3, **given, random_state=0).fit(X).timings_
    assert ("choice" in timings) == is_chosen
    assert "labels" in timings
    for stage in ("self-expression", "projection", "eigenvectors"):
        assert (stage in timings) == (not is_chosen)  # part of the choice
    assert all(seconds >= 0 for seconds in timings.values())


@pytest.mark.parametrize("estimator", [JDSSC, *BASELINES])
@pytest.mark.parametrize("X", [np.eye(40), sparse.eye_array(40, 50, format="csr")])
def test_orthogonal_samples_are_refused(estimator, X):
    with pytest.raises(
        ValueError, match=r"all 40 samples are orthogonal to each other, .* use feat"
    ):
        estimator(3).fit(X)


@pytest.mark.parametrize("estimator", [JDSSC, *BASELINES])
def test_samples_orthogonal_up_to_rounding_are_refused(estimator, rng):
    Q = np.linalg.qr(rng.standard_normal((40, 40)))[0]
    with pytest.raises(ValueError, match="orthogonal to each other"):
        estimator(3).fit(Q)


@pytest.mark.parametrize("estimator", [LSR, SSCOMP, S3COMP, LRSC])
def test_too_few_connected_samples_name_a_remedy(estimator):
    X = np.eye(40)
    X[1, 0] = 1.0  # the only two samples that are not orthogonal
    with (
        pytest.warns(UserWarning, match="connected components"),
        pytest.raises(ValueError, match=r"the affinity connects too few points\. Connect more"),
    ):
        estimator(3).fit(X)
