import hypothesis.strategies as st
import matplotlib
import numpy as np
import pytest
from hypothesis import given
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from dssc import ADSSC, LSR, GraphClustering, make_union_of_subspaces
from dssc.plotting import (
    plot_affinity,
    plot_clusters,
    plot_confusion,
    plot_contacts,
    plot_embedding,
    plot_exploration,
    plot_sizes,
    plot_spectrum,
    plot_stability,
)
from dssc.plotting.affinity import MAX_PIXELS, pooled_pixels
from tests.graphs import block_diagonal


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_points_are_grouped_by_label(ax):
    A = np.array([[0, 0, 1], [0, 2, 0], [3, 0, 0]])
    plot_affinity(sparse.csr_array(A), ["b", "a", "b"], ax=ax, title="A")
    np.testing.assert_array_equal(ax.images[0].get_array(), [[2, 0, 0], [0, 0, 1], [0, 3, 0]])
    assert ax.get_title() == "A"
    assert len(ax.lines) == 2


def test_single_entries_of_a_large_matrix_stay_visible(ax):
    n = 5 * MAX_PIXELS
    A = sparse.csr_array(([-1.0], ([n - 2], [3])), shape=(n, n))
    plot_affinity(A, ax=ax)
    pixels = ax.images[0].get_array()
    assert pixels.shape == (MAX_PIXELS, MAX_PIXELS)
    assert pixels[-1, 0] == pixels.sum() == 1.0


def test_an_empty_affinity_is_drawn(ax):
    plot_affinity(np.zeros((3, 3)), ax=ax)


@given(st.integers(1, 1000))
def test_sparse_and_dense_affinities_look_the_same(n):
    rng = np.random.default_rng(n)
    A = sparse.random_array((n, n), density=min(1.0, 5 / n), random_state=rng)
    order = rng.permutation(n)
    np.testing.assert_array_equal(pooled_pixels(A, order), pooled_pixels(A.toarray(), order))


@pytest.fixture(scope="module")
def model():
    X, _ = make_union_of_subspaces(90, n_subspaces=3, random_state=0)
    return ADSSC(3, n_neighbors=30, random_state=0).fit(X)


@pytest.mark.parametrize("known", [True, False])
def test_the_spectrum_shows_the_gap(ax, model, known):
    U = model.embedding_ if known else None
    plot_spectrum(model.affinity_matrix_, 3, embedding=U, n_more=4, ax=ax)
    expected = np.linalg.eigvalsh(model.affinity_matrix_.toarray())[::-1][:7]
    drawn = ax.collections[1].get_offsets()[:, 1]
    np.testing.assert_allclose(drawn, expected, atol=1e-6)
    assert ax.get_title() == f"gap {expected[2] - expected[3]:.3f} after 3"


def test_the_embedding_is_coloured_by_label(ax, model):
    plot_embedding(model.embedding_, model.labels_, ax=ax)
    (points,) = ax.collections
    assert len(points.get_offsets()) == 90
    colours = [tuple(colour) for colour in points.get_facecolors()]
    assert len(set(zip(colours, model.labels_.tolist(), strict=True))) == 3


def test_the_embedding_needs_no_labels(ax, model):
    plot_embedding(model.embedding_, ax=ax)
    assert len(ax.collections[0].get_offsets()) == 90


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
def test_clusters_are_rows_of_images(ax, model, shape):
    images = np.ones((90, *shape)) * (1 + model.labels_.reshape(-1, *(1 for _ in shape)))
    plot_clusters(images, model.labels_, model.embedding_, n_members=2, ax=ax)
    page = np.asarray(ax.images[0].get_array())
    assert page.shape[:2] == (3 * 4, 2 * 2 * 5 + 2)
    for cluster in range(3):
        rows = page[4 * cluster : 4 * cluster + 4]
        np.testing.assert_allclose(rows[:, :10], (1 + cluster) / 3)
        np.testing.assert_allclose(rows[:, 12:], (1 + cluster) / 3)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["central", "doubtful"]


@pytest.mark.parametrize("given", [True, False])
def test_an_exploration_is_shown(given):
    X, _ = make_union_of_subspaces(200, n_subspaces=5, noise=0.4, random_state=0)
    found = ADSSC(5, eta1=1.0, eta2=0.15, random_state=0).fit(X).explore(range(2, 9))
    axes = plot_exploration(found, axes=plt.subplots(1, 3)[1] if given else None)
    assert axes[0].get_title() == "widest gap after 5"
    assert axes[1].get_title() == "highest modularity at 5"
    np.testing.assert_allclose(axes[1].lines[0].get_ydata(), found.modularity)
    assert len(axes[2].collections[0].get_offsets()) == sum(range(2, 9))
    plt.close("all")


def test_a_model_gives_its_affinity_and_labels(model, ax):
    plot_affinity(model, ax=ax)
    assert len(ax.lines) == 4
    order = np.argsort(model.labels_, kind="stable")
    expected = model.affinity_matrix_.toarray()[np.ix_(order, order)]
    np.testing.assert_array_equal(ax.images[0].get_array(), expected)


def test_a_model_gives_its_spectrum(model, ax):
    plot_spectrum(model, ax=ax)
    assert "after 3" in ax.get_title()


def test_a_model_gives_its_embedding(model, ax):
    plot_embedding(model, ax=ax)
    assert len(np.unique(ax.collections[0].get_facecolors(), axis=0)) == 3


def test_a_model_gives_the_members_of_its_clusters(model, ax):
    plot_clusters(np.ones((90, 4, 4)), model, ax=ax, n_members=2)
    assert len(ax.get_yticks()) == 3


def test_samples_without_a_cluster_are_not_shown(ax):
    X, _ = make_union_of_subspaces(90, random_state=0)
    model = ADSSC(3, eta1=1.0, n_neighbors=8, contamination=0.1, random_state=0).fit(X)
    images = np.where(model.labels_ < 0, 0.5, 1.0)[:, None, None] * np.ones((90, 4, 4))
    plot_clusters(images, model, ax=ax, n_members=20)
    assert set(np.unique(np.ma.compressed(ax.images[0].get_array()))) == {1.0}


def test_what_a_plot_lacks_is_named(model, ax):
    with pytest.raises(NotFittedError):
        plot_embedding(ADSSC(3), ax=ax)
    with pytest.raises(ValueError, match="KMeans has no embedding_"):
        plot_embedding(KMeans(2).fit(np.eye(4)), ax=ax)
    with pytest.raises(ValueError, match="n_clusters is needed"):
        plot_spectrum(model.affinity_matrix_, ax=ax)
    with pytest.raises(ValueError, match="embedding is needed"):
        plot_clusters(np.ones((90, 4, 4)), model.labels_, ax=ax)


def test_an_eigenvalue_gap_of_rounding_is_none(ax):
    plot_spectrum(block_diagonal([np.full((5, 5), 0.2)] * 4), 3, ax=ax)
    assert ax.get_title() == "no gap after 3"
    assert not ax.patches


def test_sizes_are_bars_with_their_confidence(model, ax):
    plot_sizes(model, ax=ax)
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == np.bincount(model.labels_).tolist()
    means = [model.confidence_[model.labels_ == c].mean() for c in range(3)]
    assert [text.get_text() for text in ax.texts] == [f"{mean:.0%}" for mean in means]


def test_sizes_need_no_confidence(ax):
    plot_sizes([1, 0, 1, -1], ax=ax, title="sizes")
    assert [bar.get_height() for bar in ax.patches] == [1, 2]
    assert ax.get_title() == "sizes"


def test_contacts_are_shares_of_the_smaller_cluster(ax):
    A = np.array([[4.0, 0, 1, 0], [0, 4, 0, 0], [1, 0, 4, 0], [0, 0, 0, 9]])
    plot_contacts(A, [0, 0, 1, -1], ax=ax)
    np.testing.assert_allclose(ax.images[0].get_array(), [[0, 0.2], [0.2, 0]])


def test_proved_pairs_get_a_dot(model, ax):
    separation = model.separation()
    plot_contacts(model, separation=separation, ax=ax)
    n_dots = len(ax.collections[0].get_offsets())
    assert n_dots == 2 * separation.n_proved


def test_the_confusion_counts_classes_in_clusters(ax):
    plot_confusion([0, 0, 1, 1, 1, -1], ["b", "b", "a", "a", "b", "a"], ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "0"]
    written = {text.get_position()[::-1]: text.get_text() for text in ax.texts}
    assert written == {(0, 0): "2", (1, 0): "1", (1, 1): "2"}
    assert ax.get_title() == "4 of 5 in the cluster of their class"


def test_stability_is_sorted(model, ax):
    stability = model.stability()
    plot_stability(stability, ax=ax)
    heights = [bar.get_height() for bar in ax.patches]
    assert heights == sorted(stability.clusters, reverse=True)
    assert ax.lines[0].get_ydata()[0] == stability.chance


def test_a_model_is_explored_and_resampled(model, ax):
    axes = plot_exploration(model)
    assert len(axes[1].lines[0].get_ydata()) == 14
    plot_stability(model, ax=ax)
    assert "mean stability" in ax.get_title()


@pytest.mark.parametrize("method", [LSR, GraphClustering])
def test_other_estimators_are_drawn_too(method, ax):
    X, y = make_union_of_subspaces(90, n_subspaces=3, random_state=0)
    kernel = np.abs(X @ X.T) if method is GraphClustering else X
    other = method(3, random_state=0).fit(kernel)
    for plot in (plot_affinity, plot_spectrum, plot_embedding, plot_sizes, plot_contacts):
        assert plot(other, ax=ax) is ax
    assert plot_confusion(other, y, ax=ax) is ax
    with pytest.raises(ValueError, match=r"has no stability\(\), which this plot needs"):
        plot_stability(other, ax=ax)
    with pytest.raises(ValueError, match="labels are needed"):
        plot_contacts(kernel, ax=ax)
