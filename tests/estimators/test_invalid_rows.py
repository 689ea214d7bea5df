import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.utils.estimator_checks import check_estimator

from dssc import ADSSC, JDSSC, LSR, GraphClustering, clustering_accuracy, make_union_of_subspaces
from dssc.report import html_report

GIVEN = {"eta1": 1.0, "n_neighbors": 8, "random_state": 0}
BAD = [2, 7, 40]


@pytest.fixture(scope="module")
def clean():
    return make_union_of_subspaces(120, n_subspaces=3, noise=0.02, random_state=0)


@pytest.fixture(scope="module")
def dirty(clean):
    """Return the data with a zero row, a row with NaN and one with infinity among them."""
    X = np.insert(clean[0], [2, 6, 38], 0.0, axis=0)
    X[7, 3], X[40, 0] = np.nan, -np.inf
    return X


MODELS = [
    ADSSC(3, **GIVEN),
    ADSSC(3, random_state=0),
    ADSSC(3, symmetric=False, **GIVEN),
    JDSSC(3, eta2=1.0, random_state=0),
    LSR(3, random_state=0),
    LSR(3, affinity="doubly_stochastic", random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_the_rest_is_clustered_as_if_they_were_absent(model, make, clean, dirty):
    kept = np.setdiff1d(np.arange(123), BAD)
    expected = model.fit(make(clean[0]))
    labels, affinity = expected.labels_, expected.affinity_matrix_
    embedding, coefficients = expected.embedding_, expected.representation_matrix_
    model = model.set_params(invalid_rows="label").fit(make(dirty))
    assert model.labels_[BAD].tolist() == [-1, -1, -1]
    np.testing.assert_array_equal(model.labels_[kept], labels)
    for one, other in (
        (model.affinity_matrix_, affinity),
        (model.representation_matrix_, coefficients),
    ):
        assert one.shape == (123, 123)
        difference = one[kept][:, kept] - other
        assert abs(difference).max() == 0.0
        assert abs(one[BAD]).sum() == abs(one[:, BAD]).sum() == 0.0
    np.testing.assert_array_equal(model.embedding_[kept], embedding)
    assert not model.embedding_[BAD].any()
    assert not model.confidence_[BAD].any()
    model.set_params(invalid_rows="error")


@pytest.mark.parametrize("model", [*MODELS, GraphClustering(3, affinity="nearest_neighbors")])
def test_by_default_an_error_names_the_rows(model, dirty):
    with pytest.raises(ValueError, match=r"2 rows with NaN or infinite values: 7, 40; .*'label'"):
        model.fit(dirty)
    if not isinstance(model, GraphClustering):  # the origin has neighbours like any other point
        finite = np.delete(dirty, [7, 40], axis=0)
        with pytest.raises(ValueError, match=r"1 zero rows.*: 2; remove them, or .*'label'"):
            model.fit(finite)


@pytest.mark.parametrize("symmetric", [True, False])
def test_new_points(symmetric, clean, dirty):
    model = ADSSC(3, **GIVEN, symmetric=symmetric, invalid_rows="label").fit(clean[0])
    kept = np.setdiff1d(np.arange(123), BAD)
    for method, filling in (
        ("predict", -1),
        ("predict_proba", 0.0),
        ("transform", 0.0),
        ("outlier_scores", np.inf),
    ):
        values = getattr(model, method)(dirty)
        assert np.all(values[BAD] == filling)
        np.testing.assert_array_equal(values[kept], getattr(model, method)(clean[0]))
        assert np.all(getattr(model, method)(dirty[BAD]) == filling)
    with pytest.raises(ValueError, match="2 rows with NaN or infinite values: 7, 40"):
        model.set_params(invalid_rows="error").predict(dirty)


def test_a_model_of_dirty_data_predicts(dirty):
    model = ADSSC(3, **GIVEN, invalid_rows="label").fit(dirty)
    np.testing.assert_array_equal(model.predict(dirty), model.labels_)
    assert len(model.labels_for(4)) == 123
    assert np.flatnonzero(model.labels_for(4) < 0).tolist() == BAD


def test_tensors(clean, dirty):
    torch = pytest.importorskip("torch")
    expected = ADSSC(3, **GIVEN, device="torch").fit(torch.from_numpy(clean[0])).labels_
    model = ADSSC(3, **GIVEN, device="torch", invalid_rows="label")
    labels = model.fit(torch.from_numpy(dirty)).labels_
    assert np.flatnonzero(labels < 0).tolist() == BAD
    np.testing.assert_array_equal(labels[labels >= 0], expected)
    with pytest.raises(ValueError, match="2 rows with NaN or infinite values: 7, 40"):
        model.set_params(invalid_rows="error").fit(torch.from_numpy(dirty))


def test_zero_rows_are_points_of_affine_subspaces(dirty):
    model = ADSSC(3, **GIVEN, affine=True, invalid_rows="label").fit(dirty)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [7, 40]
    assert model.predict(dirty)[2] >= 0


def test_features_with_bad_rows_become_a_graph(clean, dirty):
    model = GraphClustering(3, affinity="nearest_neighbors", invalid_rows="label", random_state=0)
    model.fit(dirty)
    assert np.flatnonzero(model.labels_ < 0).tolist() == [7, 40]
    assert np.flatnonzero(model.predict(dirty) < 0).tolist() == [7, 40]


def test_empty_documents_get_no_cluster():
    words = ("sun rain wind snow storm cloud", "goal team match league coach score")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 2].split(), 4)) for i in range(40)]
    texts[3] = texts[8] = "the of and"  # stop words only
    X = TfidfVectorizer(stop_words="english").fit_transform(texts)
    labels = ADSSC(2, **GIVEN, invalid_rows="label").fit_predict(X)
    assert np.flatnonzero(labels < 0).tolist() == [3, 8]
    kept = np.flatnonzero(labels >= 0)
    assert clustering_accuracy(kept % 2, labels[kept]) == 1.0


def test_too_few_rows_are_refused():
    X = np.zeros((6, 3))
    X[0] = 1.0
    with pytest.raises(ValueError, match=r"only 1 of 6 rows of X can be used, and 2 are needed"):
        ADSSC(2, invalid_rows="label").fit(X)


def test_the_report_leaves_them_out(clean, dirty):
    model = ADSSC(3, **GIVEN, invalid_rows="label").fit(dirty)
    classes = np.insert(clean[1], [2, 6, 38], 9)
    page = html_report(model, labels_true=classes)
    assert "3 samples have no cluster (label -1)" in page
    assert clustering_accuracy(clean[1], model.labels_[model.labels_ >= 0]) == 1.0
    assert "ACC" in page


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Number of distinct clusters:UserWarning")
@pytest.mark.filterwarnings("ignore:the affinity has .* connected components:UserWarning")
@pytest.mark.filterwarnings("ignore:the 16 rows of X are .* distinct:UserWarning")
def test_checks_of_scikit_learn_with_zero_rows_pass():
    failures = {  # the checks take every estimator with predict_proba for a classifier
        "check_estimator_sparse_array": "no classifier",
        "check_estimator_sparse_matrix": "no classifier",
        # Repeated samples are merged into one point, so they are too few for eight clusters.
        "check_sample_weight_equivalence_on_dense_data": "repeated samples are merged",
        "check_sample_weight_equivalence_on_sparse_data": "repeated samples are merged",
    }
    check_estimator(ADSSC(invalid_rows="label"), on_skip=None, expected_failed_checks=failures)


@pytest.mark.parametrize("shape", [(10, 8, 8), (10, 8, 8, 3)])
@pytest.mark.parametrize("model", [ADSSC(2), LSR(2), JDSSC(2), GraphClustering(2)])
def test_images_are_told_how_to_become_rows(model, shape, rng):
    with pytest.raises(ValueError, match=r"shape \(10, 8.*scattered_features.*reshape\(len\(X\), "):
        model.fit(rng.uniform(size=shape))
