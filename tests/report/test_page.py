import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

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
from dssc.report.page import MAX_CHARS
from tests.graphs import block_diagonal
from tests.report.models import large_model
from tests.report.reading import data_of, text_of

EVIL = "<img src=x onerror=alert(1)></script>\"'&"


@pytest.fixture(scope="module")
def fitted():
    X, y = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    return ADSSC(3, random_state=0).fit(X), y


@pytest.fixture(scope="module")
def noise():
    X = np.random.default_rng(0).normal(size=(100, 10))
    return ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0).fit(X)


def test_the_page_says_what_is_known(fitted):
    model, y = fitted
    page = html_report(model, title="points", labels_true=y, preparation=["PCA to 9"])
    _, text = text_of(page)
    for part in ("points", "60 samples", "PCA to 9", "optimal, proved", "Known classes", "eta2"):
        assert part in text
    data = data_of(page)
    assert data["labels"] == model.labels_.tolist()
    assert data["confidence"] == np.rint(100 * model.confidence_).astype(int).tolist()
    assert sorted(data["points"]["index"]) == list(range(60))
    assert data["affinity"]["side"] == 60


def test_the_page_needs_nothing_else(fitted):
    tags, _ = text_of(html_report(fitted[0]))
    for tag, attributes in tags:
        assert tag not in ("link", "iframe", "object", "img")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")


def test_contents_lead_to_every_section(fitted):
    model, y = fitted
    page = html_report(model, labels_true=y, verdict=model.summary())
    names = {attributes.get("id") for _, attributes in text_of(page)[0]}
    nav = page[page.index("<nav") : page.index("</nav>")]
    links = [attributes["href"][1:] for tag, attributes in text_of(nav)[0] if tag == "a"]
    assert links == [
        *(
            "verdict",
            "clusters",
            "members",
            "classes",
            "map",
            "affinity-section",
            "number",
            "tried",
        ),
        *("certificate", "again"),
    ]
    assert set(links) <= names


def test_whatever_users_call_things_stays_text(fitted):
    model, _ = fitted
    page = html_report(
        model,
        title=EVIL,
        names=[EVIL] * 60,
        labels_true=[EVIL] * 30 + ["b"] * 30,
        preparation=[EVIL],
        notes=[EVIL],
        command=EVIL,
        X=np.eye(60),
        feature_names=[EVIL] * 60,
    )
    tags, text = text_of(page)
    assert "img" not in {tag for tag, _ in tags}
    assert [tag for tag, _ in tags].count("script") == 3
    assert text.count(EVIL) >= 5
    assert data_of(page)["names"][0] == EVIL


def test_the_verdict_comes_first_and_the_certificate_last(fitted):
    model, _ = fitted
    _, text = text_of(html_report(model, verdict=model.summary()))
    parts = ("The clusters are clear", "What to do next", "Stability", "Cluster by cluster")
    parts += ("Number of clusters", "optimal, proved", "from dssc import ADSSC")
    body = text[text.index("Clustering report") :]
    body = body[body.index("Make it again") + 1 :]  # after the contents
    places = [body.index(part) for part in parts]
    assert places == sorted(places)


def test_without_a_verdict_the_page_says_so(fitted):
    assert "Not judged" in html_report(fitted[0])
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    assert "LSR cannot be judged" in html_report(LSR(3, random_state=0).fit(X))


def test_nothing_is_marked_as_good_on_noise(noise):
    page = html_report(noise, verdict=noise.summary())
    assert "No clusters beyond chance" in page
    assert 'class="verdict chance"' in page
    assert 'class="verdict clear"' not in page
    assert "good" not in {a.get("class") for _, a in text_of(page)[0]}


def test_a_gap_of_rounding_is_not_called_wide():
    model = large_model(100, 4)
    model.affinity_matrix_ = block_diagonal([np.full((20, 20), 1 / 20)] * 5)
    page = html_report(model)
    assert "no gap after 4" in page
    assert "the widest, 1, is after 5" in page


def test_a_few_stray_points_are_no_alarm():
    X, _ = make_union_of_subspaces(300, n_subspaces=3, n_features=30, random_state=0)
    X[0], X[1] = np.eye(30)[:2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = ADSSC(3, eta1=0.1, n_neighbors=8, random_state=0).fit(X)
    alone = sparse.eye_array(2).tocsr()
    model.affinity_matrix_ = block_diagonal([alone, model.affinity_matrix_[2:][:, 2:]])
    page = html_report(model)
    assert "2 stray points beside the 3 largest: perhaps outliers" in page
    assert "bad" not in {a.get("class") for _, a in text_of(page)[0]}
    assert 'class="tile bad"' not in page


def test_what_is_known_of_each_cluster(fitted):
    model, y = fitted
    verdict = model.summary()
    page = html_report(model, labels_true=y, verdict=verdict)
    _, text = text_of(page)
    for heading in ("size", "confidence", "found again", "dimension", "touches"):
        assert heading in text
    for cluster in range(3):
        row = page[page.index(f'data-v="{cluster}"><a href="#cluster-{cluster}"') :]
        row = row[: row.index("</tr>")]
        assert f">{np.sum(model.labels_ == cluster)}<" in row
        assert f">{model.subspaces().dimensions[cluster]}<" in row
        assert f">{verdict.evidence.stability.clusters[cluster]:.2f}<" in row


def test_typical_and_doubtful_members_belong_to_their_cluster(fitted):
    model, _ = fitted
    for cluster, facts in enumerate(data_of(html_report(model))["clusters"]):
        assert len(facts["typical"]) == len(facts["doubtful"]) == 8
        assert not set(facts["typical"]) & set(facts["doubtful"])
        assert set(model.labels_[facts["typical"] + facts["doubtful"]]) == {cluster}


def test_clusters_that_touch_name_the_points_that_join_them(noise):
    data, A = data_of(html_report(noise)), noise.affinity_matrix_
    touches = [(c, *t) for c, facts in enumerate(data["clusters"]) for t in facts["touches"]]
    assert touches
    for cluster, other, share, n_joining, points in touches:
        assert share >= 5
        assert 0 < len(points) <= n_joining
        assert set(noise.labels_[points]) == {cluster}
        assert np.all(A[points][:, noise.labels_ == other].sum(axis=1) > 0)


def test_proofs_of_separation_are_shown(fitted):
    model, _ = fitted
    separation = model.separation()
    page = html_report(model, separation=separation)
    assert f"{separation.n_proved} of {separation.n_pairs}" in page
    np.testing.assert_array_equal(
        data_of(page)["contacts"]["proved"], separation.proved.astype(int).ravel()
    )
    assert data_of(html_report(model))["contacts"]["proved"] is None


def test_a_table_shows_what_sets_clusters_apart(fitted):
    model, _ = fitted
    X = np.zeros((60, 2))
    X[model.labels_ == 1, 1] = 5.0
    frame = pd.DataFrame(X, columns=["length", "weight"])
    for given in ({"X": frame}, {"X": X, "feature_names": ["length", "weight"]}):
        features = [facts["features"] for facts in data_of(html_report(model, **given))["clusters"]]
        assert [f[:3] for f in features[1]] == [["weight", "5", "0"]]
        assert features[0][0][3] < 0 < features[1][0][3]


def test_lengths_must_agree(fitted):
    model, _ = fitted
    with pytest.raises(ValueError, match=r"names has 3 entries.*60 samples; give one per sample"):
        html_report(model, names=["a", "b", "c"])
    with pytest.raises(ValueError, match="X has 7 entries"):
        html_report(model, X=np.ones((7, 2)))
    with pytest.raises(ValueError, match=r"feature_names has 3 entries, and X has 2 columns"):
        html_report(model, X=np.ones((60, 2)), feature_names=["a", "b", "c"])


def test_what_was_tried(fitted):
    model, _ = fitted
    page = html_report(model)
    _, text = text_of(page)
    assert model.explanation_[1:] in text
    section = page[page.index('id="tried"') :]
    section = section[: section.index("</section>")]
    assert section.count("<tr") == 1 + len(model.candidates_)
    assert section.count("chosen</th>") == 1
    given = ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0)
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    assert "What was tried" not in html_report(given.fit(X))


def test_other_numbers_of_clusters(fitted):
    model, _ = fitted
    page = html_report(model, exploration=model.explore(range(3, 7)))
    assert 'id="modularity"' in page
    assert "5 clusters: modularity" in page
    assert "Other numbers were not tried" in html_report(model)


def test_classes_that_are_confused(fitted):
    model, y = fitted
    y = y.copy()
    y[:3] = (y[:3] + 1) % 3
    page = html_report(model, labels_true=y)
    assert "57 points are in the cluster that is matched with their class, 3 are not" in page
    data = data_of(page)
    assert data["classNames"] == ["0", "1", "2"]
    assert data["classes"] == y.tolist()
    tags, _ = text_of(page)
    cells = [a for _, a in tags if a.get("class") == "cell"]
    pairs = {(int(a["data-class"]), int(a["data-in"])) for a in cells}
    assert pairs == set(zip(y.tolist(), model.labels_.tolist(), strict=True))


def test_many_classes_are_listed_by_their_confusions():
    model = large_model(600, 50)
    page = html_report(model, labels_true=model.labels_)
    assert "Every point is in the cluster that is matched with its class" in page
    classes = model.labels_.copy()
    classes[:5] = 99
    page = html_report(model, labels_true=classes)
    assert "largest confusions of 51 classes and 50 clusters" in page
    cells = [a for _, a in text_of(page)[0] if a.get("class") == "cell"]
    assert {int(a["data-in"]) for a in cells} == set(model.labels_[:5])


def test_samples_without_a_cluster_keep_their_place():
    X, _ = make_union_of_subspaces(90, random_state=0)
    model = ADSSC(3, eta1=1.0, n_neighbors=8, contamination=0.1, random_state=0).fit(X)
    page = html_report(model, names=[f"n{i}" for i in range(90)])
    assert "9 samples have no cluster (label -1)" in page
    data = data_of(page)
    assert data["labels"] == model.labels_.tolist()
    shown = {i for facts in data["clusters"] for i in facts["typical"] + facts["doubtful"]}
    assert min(model.labels_[list(shown)]) >= 0
    assert min(model.labels_[data["points"]["index"]]) >= 0


def test_warnings_are_shown(fitted):
    assert "Rivers run." in html_report(fitted[0], notes=["rivers run"])


def test_a_solver_that_did_not_converge_is_named():
    X, _ = make_union_of_subspaces(60, n_subspaces=3, random_state=0)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = ADSSC(3, eta1=1.0, eta2=0.3, max_iter=1, random_state=0).fit(X)
    page = html_report(model)
    assert "The solver did not reach its tolerance" in page
    assert "not converged" in page


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
    page = html_report(model)
    assert "more than the 3 clusters: raise eta2 or n_neighbors" in page
    assert 'class="tile bad"' in page


def test_two_points_have_a_report():
    page = html_report(ADSSC(1, random_state=0).fit([[1.0, 0.0], [1.0, 0.5]]))
    assert data_of(page)["affinity"]["side"] == 2


@pytest.mark.slow
def test_seventy_thousand_points_and_a_hundred_clusters_fit_into_a_megabyte():
    n, k = 70_000, 100
    model = large_model(n, k)
    images = np.random.default_rng(0).integers(0, 255, (n, 28, 28), dtype=np.uint8)
    names = [f"folder{i % 77}/image-{i:06}.png" for i in range(n)]
    classes = (model.labels_ + (np.arange(n) % 10 == 0)) % k
    page = html_report(model, images=images, labels_true=classes, names=names)
    data = data_of(page)
    assert MAX_POINTS <= len(data["points"]["x"]) <= 1.2 * MAX_POINTS
    assert f"{len(data['points']['x']):,} of 70,000 points are drawn" in page
    assert len(data["labels"]) == len(data["names"]) == n
    assert data["affinity"]["order"] is None
    assert "largest confusions of 100 classes" in page
    assert len(page.encode()) <= MAX_CHARS
    shown = {i for facts in data["clusters"] for i in facts["typical"]}
    assert shown & set(data_of(page, "sheet")["samples"])


@pytest.mark.slow
def test_names_that_take_too_much_space_are_left_out():
    model = large_model(20_000, 5)
    rng = np.random.default_rng(0)
    names = [rng.bytes(24).hex() for _ in range(20_000)]
    page = html_report(model, names=names)
    data = data_of(page)
    assert data["names"] is None
    first = data["clusters"][0]["typical"][0]
    assert data["someNames"][str(first)] == names[first]
    assert "its table of labels has numbers instead" in page
