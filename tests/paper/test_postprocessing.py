import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dssc.paper.postprocessing import keep_largest, low_rank_affinity


def test_the_largest_entries_are_kept_by_hand():
    C = np.array([[0.0, 5.0, -3.0, 2.0], [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, -7.0]])
    # Row 1: 5 is half of the sum 10, and 5 + 3 exceeds it. Row 2: ties fall in their order.
    expected = [[0.0, 5.0, -3.0, 0.0], [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, -7.0]]
    np.testing.assert_array_equal(keep_largest(C, 0.5), expected)


@given(
    C=arrays(np.float64, (4, 4), elements=st.integers(-5, 5).map(float)),
    share=st.sampled_from([0.04, 0.2, 0.5, 0.9]),
)
def test_what_is_kept_exceeds_the_share_and_is_no_more_than_needed(C, share):
    kept = keep_largest(C, share)
    assert np.all((kept == C) | (kept == 0))
    for row, kept_row in zip(np.abs(C), np.abs(kept), strict=True):
        if row.sum() == 0:
            continue
        assert kept_row.sum() > share * row.sum()
        smallest = kept_row[kept_row > 0].min()
        assert kept_row.sum() - smallest <= share * row.sum()
        assert np.all(row[kept_row == 0] <= smallest)


def test_a_low_rank_affinity_by_hand():
    # Eigenvalues 3 and 1 of the first block, -2 and 2 of the second. Rank 1 * 2 + 1 keeps 3, -2, 2.
    C = np.array([[2.0, 1, 0, 0], [1, 2, 0, 0], [0, 0, 0, 2], [0, 0, 2, 0]])
    # The first two rows become (sqrt(3) / sqrt(2), 0, 0) each and have cosine 1; the others are
    # (0, ±1, 1) and orthogonal.
    expected = [[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    A = low_rank_affinity(C, n_clusters=2, dimension=1, power=3.5)
    np.testing.assert_allclose(A, expected, atol=1e-12)


@pytest.mark.parametrize("power", [1, 3.5])
def test_a_low_rank_affinity_is_that_of_a_plain_svd(power):
    C = np.random.default_rng(0).standard_normal((12, 12))
    U, S, _ = np.linalg.svd((C + C.T) / 2)
    rows = [row / np.linalg.norm(row) for row in (U[:, :7] @ np.diag(np.sqrt(S[:7])))]
    expected = [[max(a @ b, 0.0) ** power * (a is not b) for b in rows] for a in rows]
    A = low_rank_affinity(C, n_clusters=3, dimension=2, power=power)
    np.testing.assert_allclose(A, expected, atol=1e-10)
    np.testing.assert_array_equal(A, A.T)


def test_a_point_that_nothing_expresses_stays_alone():
    C = np.zeros((4, 4))
    C[0, 1] = C[1, 0] = 1.0
    A = low_rank_affinity(C, n_clusters=1, dimension=2, power=1)
    assert np.isfinite(A).all()
    assert A[2:].sum() == A[:, 2:].sum() == 0
