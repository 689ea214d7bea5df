import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dssc._progress import Progress
from dssc.expression import LeastSquaresFactor
from dssc.stochastic import (
    FactoredSimilarity,
    ProjectionProblem,
    factored_similarity,
    project_to_neighbors,
    scan,
)
from dssc.stochastic.factored_similarity import ListLength, entries_needed
from tests.judge import certify

QUIET = Progress()


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch):
    monkeypatch.setattr(scan, "TILE", 64)
    monkeypatch.setattr(factored_similarity, "KEPT", ListLength(5.0, 8, 128))
    monkeypatch.setattr(factored_similarity, "USED", ListLength(1.5, 4, 32))
    monkeypatch.setattr(factored_similarity, "PANEL_ROWS", 128)
    monkeypatch.setattr(factored_similarity, "PANEL_COLUMNS", 32)
    monkeypatch.setattr(factored_similarity, "SPAN", 100)


def subspaces(rng, n=400, d=24, n_subspaces=5):
    bases = rng.standard_normal((n_subspaces, 3, d))
    X = np.einsum("nk,nkd->nd", rng.standard_normal((n, 3)), bases[np.arange(n) % n_subspaces])
    return X + 0.02 * rng.standard_normal((n, d))


def similarity_of(X, symmetric, eta1=0.5, signed=False):
    return FactoredSimilarity(LeastSquaresFactor(X, eta1), symmetric, signed)


def as_array(similarity):
    n = similarity.shape[0]
    rows, columns = np.divmod(np.arange(n * n), n)
    return similarity.at(rows, columns).reshape(n, n)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("eta2", [1e-3, 0.05, 3.0])
@pytest.mark.parametrize(("eta1", "signed"), [(0.5, False), (0.5, True), (np.inf, True)])
def test_the_projection_is_the_one_of_the_whole_matrix(symmetric, eta2, eta1, signed, rng):
    similarity = similarity_of(subspaces(rng), symmetric, eta1, signed)
    K = as_array(similarity)
    assert np.all(np.diag(K) == 0)
    assert np.array_equal(K, K.T) == (symmetric or np.isinf(eta1))
    result = ProjectionProblem(similarity).solve(eta2)
    assert result.converged
    whole = ProjectionProblem.of_matrix(K).solve(eta2)
    plans = [p if isinstance(p, np.ndarray) else p.toarray() for p in (result.plan, whole.plan)]
    np.testing.assert_allclose(*plans, atol=1e-8)
    certify(K, eta2, result)


@pytest.mark.parametrize("symmetric", [True, False])
def test_too_few_kept_entries_are_noticed_and_made_up_for(symmetric, rng, monkeypatch):
    # Eight entries per row are far too few.
    monkeypatch.setattr(factored_similarity, "KEPT", ListLength(0.0, 8, 0))
    similarity = similarity_of(subspaces(rng), symmetric)
    problem = ProjectionProblem(similarity)
    n_rescanned = 0
    for eta2 in (0.02, 0.2, 1.0):
        result = problem.solve(eta2)
        assert result.converged
        n_rescanned += result.n_rescanned
        certify(as_array(similarity), eta2, result)
    assert n_rescanned > 0


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("quantile", [0.8, 0.95, 0.99])
def test_missing_finds_every_positive_entry_outside(symmetric, quantile, rng):
    similarity = similarity_of(subspaces(rng), symmetric)
    K = as_array(similarity)
    support = similarity.first_support(1e-3, (np.arange(400), np.arange(400)), QUIET)
    alpha = np.quantile(K, quantile) / 2 * rng.uniform(0.8, 1.2, 400)
    beta = alpha if symmetric else rng.permutation(alpha)
    while len((missing := similarity.missing(support, (alpha, beta), 1e-3, QUIET)).rows):
        np.testing.assert_array_equal(missing.values, K[missing.rows, missing.columns])
        support = support.extended(missing.rows, missing.columns, missing.values)
    held = np.zeros(K.shape, dtype=bool)
    matrix = support.matrix.tocoo()
    held[matrix.row, matrix.col] = True
    assert not np.any((alpha[:, None] + beta < K) & ~held)


def test_a_plan_too_large_for_memory_is_refused_before_the_search(rng, monkeypatch):
    similarity = similarity_of(subspaces(rng), True)
    monkeypatch.setattr("dssc.stochastic.similarity.available_bytes", lambda: 100_000)
    monkeypatch.setattr(similarity, "search", None)
    with pytest.raises(MemoryError, match=r"eta2=1e\+03 .* bytes to compute, 1e\+05 available"):
        ProjectionProblem(similarity).solve(1e3)


def test_largest_entries_and_rows_are_those_of_the_matrix(rng):
    similarity = similarity_of(subspaces(rng), True)
    K = as_array(similarity)
    top = similarity.largest_entries(5, QUIET)
    np.testing.assert_allclose(top, -np.sort(-K, axis=1)[:, :5], rtol=1e-4)
    assert K.max() <= similarity.largest <= 1.001 * K.max()
    rows = np.array([3, 399, 17])
    np.testing.assert_allclose(similarity.symmetric_rows(rows), 2 * K[rows], atol=1e-6)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=2000), st.floats(1e-3, 100))
def test_entries_needed_are_those_of_a_rows_own_projection(row, eta2):
    row = np.array(row)
    count = entries_needed(row, eta2)
    top = -np.sort(-row)
    excess = [np.sum(top[:p] - top[p]) for p in range(1, len(row))]
    enough = [p for p, mass in enumerate(excess, start=1) if mass >= eta2 * (1 + 1e-12)]
    barely = [p for p, mass in enumerate(excess, start=1) if mass >= eta2 * (1 - 1e-12)]
    assert (barely or [len(row)])[0] <= count <= (enough or [len(row)])[0]


def test_few_entries_are_computed_where_many_are_nearly_equal(rng, monkeypatch):
    monkeypatch.setattr(factored_similarity, "KEPT", ListLength(5.0, 64, 128))
    monkeypatch.setattr(factored_similarity, "USED", ListLength(1.5, 24, 32))
    # Points of one orthant in few dimensions: rough potentials from short lists leave most open.
    X = np.abs(rng.standard_normal((800, 4))) + 0.5
    similarity = similarity_of(X, symmetric=True, eta1=1.0)
    n_computed = []
    exact = similarity.at
    similarity.at = lambda rows, columns: (n_computed.append(len(rows)), exact(rows, columns))[1]
    result = project_to_neighbors(ProjectionProblem(similarity), 12)
    assert result.converged
    assert sum(n_computed) < 100 * 800
