import json
import re
import warnings
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator

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
    make_union_of_subspaces,
)
from dssc.report import html_report
from dssc.report.content import MAX_POINTS

EVIL = "<img src=x onerror=alert(1)></script>\"'&"


@pytest.fixture(scope="module")
def fitted():
    X, y = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    return ADSSC(3, random_state=0).fit(X), y


def data_of(page):
    return json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])


def text_of(page):
    class Text(HTMLParser):
        def __init__(self):
            super().__init__()
            self.tags, self.parts = [], []

        def handle_starttag(self, tag, attributes):
            self.tags.append((tag, dict(attributes)))

        def handle_data(self, data):
            self.parts.append(data)

    parser = Text()
    parser.feed(page)
    return parser.tags, " ".join(parser.parts)


def test_the_page_says_what_is_known(fitted):
    model, y = fitted
    page = html_report(model, title="points", labels_true=y, preparation=["PCA to 9"])
    _, text = text_of(page)
    for part in ("points", "60 samples", "PCA to 9", "optimal", "Confusion", "eta2, as used"):
        assert part in text
    assert f"Chosen without labels: {model.explanation_}." in text
    data = data_of(page)
    assert sorted(data["points"]["index"]) == list(range(60))
    assert data["points"]["cluster"] == model.labels_[data["points"]["index"]].tolist()
    assert data["affinity"]["side"] == 60


def test_the_page_needs_nothing_else(fitted):
    tags, _ = text_of(html_report(fitted[0]))
    for tag, attributes in tags:
        assert tag not in ("link", "iframe", "object")
        assert "src" not in attributes
        assert "href" not in attributes


def test_whatever_users_call_things_stays_text(fitted):
    model, _ = fitted
    page = html_report(
        model,
        title=EVIL,
        names=[EVIL] * 60,
        labels_true=[EVIL] * 30 + ["b"] * 30,
        preparation=[EVIL],
        notes=[EVIL],
    )
    tags, text = text_of(page)
    assert "img" not in {tag for tag, _ in tags}
    assert [tag for tag, _ in tags].count("script") == 2
    assert text.count(EVIL) >= 4
    assert data_of(page)["names"][0] == EVIL


def test_the_verdict_comes_first(fitted):
    model, _ = fitted
    page = html_report(model, verdict=model.summary())
    _, text = text_of(page)
    assert text.index("The clusters are clear") < text.index("Connected components")
    assert text.index("Affinity inside clusters") < text.index("Optimisation")
    assert "found again" in text
    assert 'class="tile good"' in page


def test_nothing_is_marked_as_good_on_noise():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0).fit(X)
    page = html_report(model, verdict=model.summary())
    assert "No clusters beyond chance" in page
    assert 'class="tile good"' not in page
    assert 'class="tile good"' not in html_report(model)


def test_a_few_stray_points_are_no_alarm():
    X, _ = make_union_of_subspaces(300, n_subspaces=3, n_features=30, random_state=0)
    X[0], X[1] = np.eye(30)[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ADSSC(3, eta1=0.1, n_neighbors=8, random_state=0).fit(X)
    alone = sparse.eye_array(2).tocsr()
    model.affinity_matrix_ = sparse.block_diag([alone, model.affinity_matrix_[2:][:, 2:]], "csr")
    page = html_report(model)
    assert "2 stray points beside the 3 largest: perhaps outliers" in page
    assert 'class="tile bad"' not in page


def test_warnings_are_shown(fitted):
    assert "rivers run" in html_report(fitted[0], notes=["rivers run"])


def test_a_method_without_certificate():
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    page = html_report(LSR(3, random_state=0).fit(X))
    assert "a symmetric affinity needs no solver" in page


@pytest.mark.parametrize("method", [JDSSC, EnSC, LRSC, TSC, SSCOMP, S3COMP])
def test_every_method_has_a_report(method):
    X, y = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    data = data_of(html_report(method(3, random_state=0).fit(X), labels_true=y))
    assert len(data["points"]["x"]) == 60


def test_a_proved_self_expression():
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    page = html_report(SSC(3, random_state=0).fit(X))
    assert "proved: optimality conditions of every row within" in page


def test_a_graph_in_too_many_pieces():
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    with pytest.warns(UserWarning, match="connected components"):
        model = ADSSC(3, n_neighbors=1, random_state=0).fit(X)
    assert "more than the 3 clusters: raise eta2 or n_neighbors" in html_report(model)


def test_two_points_have_a_report():
    page = html_report(ADSSC(1, random_state=0).fit([[1.0, 0.0], [1.0, 0.5]]))
    assert data_of(page)["affinity"]["side"] == 2


def large_model(n, k, neighbours=12):
    """A fitted model of blocks, without the fit."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, k, n)
    members = [np.flatnonzero(labels == c) for c in range(k)]
    rows = np.repeat(np.arange(n), neighbours)
    columns = np.concatenate([rng.choice(members[c], neighbours) for c in labels])
    stray = rng.uniform(size=len(rows)) < 0.02
    columns[stray] = rng.integers(0, n, stray.sum())
    A = sparse.csr_array((np.full(len(rows), 1 / neighbours), (rows, columns)), shape=(n, n))
    U = np.eye(k)[labels] + 0.2 * rng.standard_normal((n, k))
    certificate = SimpleNamespace(marginal_error=0.0, gap=0.0, converged=True, status="converged")
    model = BaseEstimator()
    vars(model).update(
        labels_=labels, affinity_matrix_=A, embedding_=U, n_clusters=k, n_clusters_=k,
        n_features_in_=9, timings_={}, projection_=certificate, eta2_=0.1,
    )  # fmt: skip
    return model


@pytest.mark.slow
def test_a_hundred_thousand_points():
    n, k = 100_000, 70
    model = large_model(n, k)
    images = np.random.default_rng(0).integers(0, 255, (n, 16, 16), dtype=np.uint8)
    page = html_report(model, images=images, labels_true=model.labels_)
    data = data_of(page)
    assert MAX_POINTS <= len(data["points"]["x"]) <= 1.2 * MAX_POINTS
    assert f"{len(data['points']['x']):,} of 100,000 points are drawn" in page
    assert data["affinity"]["order"] is None
    assert "largest confusions of 70 classes" in page
    assert len(page) < 6e6
