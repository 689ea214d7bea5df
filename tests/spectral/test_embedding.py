import numpy as np
import pytest
from scipy import linalg, sparse

from dssc import assign_labels, clustering_accuracy, spectral_embedding
from tests.graphs import block_diagonal
from tests.spectral.inputs import blocks, cluster

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    "make", [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.coo_array]
)
@pytest.mark.parametrize("sizes", [(150, 150, 150), (200, 300, 41), (20, 20)])
def test_embedding_spans_the_leading_eigenvectors(make, sizes):
    W, _ = blocks(*sizes, noise=0.05)
    k = len(sizes)
    degrees = W.sum(axis=1)
    N = W / np.sqrt(degrees[:, None] * degrees[None, :])
    expected = linalg.eigh(N)[1][:, -k:]
    U = spectral_embedding(make(W), k, random_state=0)
    np.testing.assert_allclose(U @ U.T, expected @ expected.T, atol=1e-5)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("k", [10, 30])
def test_nearly_disconnected_pieces_are_resolved(make, k):
    """Thirty eigenvalues crowd within 1e-5 of one."""
    pieces = 30
    W = block_diagonal([np.ones((30, 30))] * pieces, format="lil")
    for piece in range(pieces - 1):
        here, there = 30 * piece + 7, 30 * piece + 41
        W[here, there] = W[there, here] = 1e-4 * (1 + piece)
    W = W.toarray()
    U = spectral_embedding(make(W), k, random_state=0)
    root = np.sqrt(W.sum(axis=1))
    N = W / np.outer(root, root)
    values = np.sum(U * (N @ U), axis=0)
    exact, vectors = linalg.eigh(N)
    np.testing.assert_allclose(np.sort(values), exact[-k:], atol=1e-11)
    expected = vectors[:, -k:]
    np.testing.assert_allclose(U @ U.T, expected @ expected.T, atol=1e-5)
    if k == pieces:
        labels = assign_labels(U, pieces, n_init=20, random_state=0)
        assert clustering_accuracy(np.repeat(range(pieces), 30), labels) == 1.0


def test_embedding_of_components_is_orthonormal_and_exact():
    W, _ = blocks(400, 300, noise=0.0)
    U = spectral_embedding(sparse.csr_array(W), 2, n_components=4, random_state=0)
    np.testing.assert_allclose(U.T @ U, np.eye(4), atol=1e-10)
    degrees = W.sum(axis=1)
    N = W / np.sqrt(degrees[:, None] * degrees[None, :])
    np.testing.assert_allclose(N @ U[:, :2], U[:, :2], atol=1e-12)


def test_more_components_than_clusters_warn_and_go_to_the_most_similar(rng):
    W, y = blocks(100, 80, 60, 3, 1)
    similarity = 0.1 * rng.random(W.shape)
    for stray, home in [(3, 1), (4, 2)]:
        similarity[np.ix_(y == stray, y == home)] += 0.2
    with pytest.warns(UserWarning, match=r"5 connected components, more than n_clusters=3.*eta2"):
        U = spectral_embedding(sparse.csr_array(W), 3, random_state=0)
    assert not U[y >= 3].any()
    expected = np.choose(y, [0, 1, 2, 1, 2])
    for S in (similarity, sparse.csr_array(similarity), similarity.T):
        labels = assign_labels(U, 3, similarity=S, random_state=0)
        assert clustering_accuracy(expected, labels) == 1.0
    without = assign_labels(U, 3, random_state=0)
    assert clustering_accuracy(np.choose(y, [0, 1, 2, 0, 0]), without) == 1.0


def test_stray_pieces_do_not_crowd_out_clusters():
    W, y = blocks(200, 200, noise=0.02)
    lone = block_diagonal([W, np.eye(5)])
    with pytest.warns(UserWarning, match="6 connected components"):
        U = spectral_embedding(lone, 2, random_state=0)
    labels = assign_labels(U, 2, random_state=0)
    assert clustering_accuracy(y, labels[:400]) == 1.0


def test_asymmetric_affinities_are_symmetrised(rng):
    W, _ = blocks(40, 30, noise=0.2)
    skewed = W + np.triu(W, 1) - np.tril(W, -1)
    np.testing.assert_allclose(
        abs(spectral_embedding(skewed, 2)), abs(spectral_embedding(W, 2)), atol=1e-10
    )


def test_entries_that_are_zero_up_to_rounding_connect_nothing():
    W, y = blocks(60, 80, 70)
    expected = spectral_embedding(W, 3)
    noise = 1e-15 * np.random.default_rng(0).random(W.shape)
    np.testing.assert_allclose(spectral_embedding(W + noise, 3), expected, atol=1e-12)
    assert clustering_accuracy(y, cluster(W + noise, 3)) == 1.0


def test_one_more_component_than_clusters():
    W, y = blocks(120, 130, noise=0.02)
    U = spectral_embedding(W, 2, n_components=3, random_state=0)
    assert U.shape == (250, 3)
    assert clustering_accuracy(y, assign_labels(U, 2, random_state=0)) == 1.0


@pytest.mark.parametrize("n", [60, 900])
def test_fewer_components_than_clusters_split_by_their_spectrum(n):
    W, y = blocks(n, n, n)
    inner, z = blocks(n // 2, n // 2, noise=0.05, seed=1)
    members = np.flatnonzero(y == 0)
    W[np.ix_(members, members)] = inner
    expected = y.copy()
    expected[members[z == 1]] = 3
    assert clustering_accuracy(expected, cluster(sparse.csr_array(W), 4)) == 1.0


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_points_without_affinity_are_pieces_of_their_own(make):
    W, y = blocks(30, 30)
    W = linalg.block_diag(W, np.zeros((1, 1)))
    assert clustering_accuracy([*y, 2], cluster(make(W), 3)) == 1.0


def test_the_warning_points_at_the_line_of_the_caller():
    W = block_diagonal([np.ones((9, 9))] * 3)
    with pytest.warns(UserWarning, match="3 connected components") as record:
        spectral_embedding(W, 2)
    assert record[0].filename == __file__


def test_a_piece_with_too_few_points_leaves_columns_zero():
    with pytest.warns(UserWarning, match="100 connected components"):
        U = spectral_embedding(np.eye(100), 2)
    assert np.count_nonzero(U) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spectral_embedding(np.ones((2, 3)), 1), "square"),
        (lambda: spectral_embedding(-np.ones((3, 3)), 1), "nonnegative; its smallest entry is -1"),
        (lambda: spectral_embedding(np.full((3, 3), np.nan), 1), "NaN"),
        (lambda: spectral_embedding(np.ones((3, 3)), 4), "n_clusters=4 .* n_samples=3"),
        (lambda: spectral_embedding(np.ones((3, 3)), 0), "n_clusters=0"),
        (lambda: spectral_embedding(np.ones((3, 3)), 1, n_components=9), "n_components=9"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()
