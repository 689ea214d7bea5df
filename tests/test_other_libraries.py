"""The estimators beside other libraries: data frames, scanpy, BERTopic."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dssc import ADSSC, clustering_accuracy, make_union_of_subspaces
from dssc.anndata import read_connectivities, to_anndata

LIBRARIES = "needs dssc[integrations]"
WORDS = {
    "cats": "cat purr whisker claw kitten meow fur tail",
    "stars": "star galaxy orbit planet telescope comet nova moon",
    "bread": "flour yeast oven dough crust loaf bake salt",
}


@pytest.fixture(scope="module")
def points():
    return make_union_of_subspaces(90, n_subspaces=3, n_features=6, dimension=2, random_state=0)


def model():
    return ADSSC(3, eta1=1.0, n_neighbors=8, random_state=0)


# Data frames


def frame_of(library, X):
    names = [f"x{number}" for number in range(X.shape[1])]
    if library == "pandas":
        return pd.DataFrame(X, columns=names, index=[f"row {number}" for number in range(len(X))])
    return pytest.importorskip("polars").DataFrame(X, schema=names)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_in_and_a_frame_out(points, library):
    X, _ = points
    frame = frame_of(library, X)
    fitted = model().set_output(transform=library).fit(frame)
    np.testing.assert_array_equal(fitted.labels_, model().fit(X).labels_)
    assert fitted.feature_names_in_.tolist() == [f"x{number}" for number in range(6)]
    shares = fitted.transform(frame)
    assert type(shares) is type(frame)
    assert list(shares.columns) == ["adssc0", "adssc1", "adssc2"]
    np.testing.assert_array_equal(fitted.predict(frame), shares.to_numpy().argmax(axis=1))
    if library == "pandas":
        assert shares.index.equals(frame.index)
        with pytest.raises(ValueError, match="feature names should match"):
            fitted.predict(frame.rename(columns={"x0": "y0"}))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline_of_frames(points, library):
    X, y = points
    pipeline = make_pipeline(StandardScaler(with_mean=False), model())
    frame = frame_of(library, X)
    labels = pipeline.set_output(transform=library).fit_predict(frame)
    assert clustering_accuracy(y, labels) > 0.9
    assert type(pipeline.transform(frame)) is type(frame)


# Single cells


def simulated_cells(n_types=5, n_per_type=80, n_genes=200):
    """Return counts of cells whose types differ in a tenth of the genes."""
    rng = np.random.default_rng(0)
    rates = np.tile(rng.gamma(1.0, 1.0, n_genes), (n_types, 1))
    for kind in range(n_types):
        rates[kind, rng.choice(n_genes, n_genes // 10, replace=False)] *= 5.0
    types = np.repeat(np.arange(n_types), n_per_type)
    return rng.poisson(rates[types]).astype(np.float32), types


@pytest.mark.slow
def test_leiden_of_scanpy_on_both_graphs():
    scanpy = pytest.importorskip("scanpy", reason=LIBRARIES)
    pytest.importorskip("igraph", reason=LIBRARIES)
    counts, types = simulated_cells()
    scores = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other packages
        cells = scanpy.AnnData(counts)
        scanpy.pp.normalize_total(cells)
        scanpy.pp.log1p(cells)
        scanpy.pp.pca(cells, n_comps=20, random_state=0)
        scanpy.pp.neighbors(cells, random_state=0)
        to_anndata(ADSSC(5, random_state=0).fit(cells.obsm["X_pca"]), cells)
        for key in (None, "dssc"):
            scanpy.tl.leiden(
                cells, neighbors_key=key, key_added="leiden", flavor="igraph", n_iterations=2
            )
            scores[key] = adjusted_rand_score(types, cells.obs["leiden"])
        scanpy.tl.umap(cells, neighbors_key="dssc", maxiter=10)
    scores["dssc clusters"] = adjusted_rand_score(types, cells.obs["dssc"])
    assert min(scores.values()) > 0.95, scores
    assert cells.obsm["X_umap"].shape == (len(types), 2)
    assert read_connectivities(cells).shape == read_connectivities(cells, "dssc").shape


# Topics


@pytest.mark.slow
def test_as_the_cluster_model_of_bertopic():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other packages
        bertopic = pytest.importorskip("bertopic", reason=LIBRARIES)
        from bertopic.dimensionality import BaseDimensionalityReduction
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    rng = np.random.default_rng(0)
    topics = rng.integers(3, size=150)
    words = [text.split() for text in WORDS.values()]
    documents = [" ".join(rng.choice(words[topic], 8)) for topic in topics]
    vectors = TruncatedSVD(12, random_state=0).fit_transform(
        TfidfVectorizer().fit_transform(documents)
    )
    model = bertopic.BERTopic(
        embedding_model=None,
        umap_model=BaseDimensionalityReduction(),  # the vectors are clustered as they are
        hdbscan_model=ADSSC(3, random_state=0),
    )
    found, _ = model.fit_transform(documents, embeddings=vectors)
    assert clustering_accuracy(topics, found) == 1.0
    for number in range(3):
        top = {word for word, _ in model.get_topic(number)}
        assert any(top <= set(group) | {""} for group in words)
    placed, _ = model.transform(documents[:20], embeddings=vectors[:20])
    assert list(placed) == list(found[:20])
