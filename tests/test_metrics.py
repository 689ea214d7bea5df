import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from dssc import clustering_accuracy, nonzeros_per_point, subspace_preserving_error

labels = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=20)


def accuracy_over_all_matchings(true, predicted):
    best = 0
    for matching in itertools.permutations(range(5)):
        best = max(best, sum(t == matching[p] for t, p in zip(true, predicted, strict=True)))
    return best / len(true)


@given(labels)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    true, predicted = zip(*pairs, strict=True)
    expected = accuracy_over_all_matchings(true, predicted)
    assert clustering_accuracy(true, predicted) == pytest.approx(expected)


@given(labels, st.permutations(range(5)))
def test_accuracy_does_not_depend_on_names(pairs, names):
    true, predicted = (np.array(side) for side in zip(*pairs, strict=True))
    expected = clustering_accuracy(true, predicted)
    assert clustering_accuracy(true, np.array(names)[predicted]) == expected
    assert clustering_accuracy(np.array(list("abcde"))[true], predicted - 7) == expected


@pytest.mark.parametrize(
    ("true", "predicted", "expected"),
    [
        ([0, 0, 0, 0], [0, 1, 2, 3], 0.25),
        ([0, 1, 2, 3], [5, 5, 5, 5], 0.25),
        (["x", "y"], [10, -3], 1.0),
    ],
)
def test_accuracy_with_differing_numbers_of_clusters(true, predicted, expected):
    assert clustering_accuracy(true, predicted) == expected


def test_subspace_preserving_error_by_hand():
    A = np.array([[0.5, -0.25, 0.25], [0.0, 0.0, 0.0], [1.0, 1.0, 2.0]])
    # Row 0 of class 0: a quarter lies on class 1. Row 1 is zero: error 1. Row 2: half.
    expected = (0.25 + 1.0 + 0.5) / 3
    assert subspace_preserving_error(A, ["a", "a", "b"]) == pytest.approx(expected)
    assert subspace_preserving_error(sparse.csr_array(A), [0, 0, 5]) == pytest.approx(expected)


def test_nonzeros_per_point_by_hand():
    A = np.array([[0.5, 1e-10], [-1.0, 2e-9]])
    assert nonzeros_per_point(A) == 1.5
    assert nonzeros_per_point(sparse.csr_array(A)) == 1.5
    assert nonzeros_per_point(A, threshold=0.6) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: clustering_accuracy([0, 1], [0]), "inconsistent numbers"),
        (lambda: clustering_accuracy([], []), "at least one label"),
        (lambda: subspace_preserving_error(np.eye(3), [0, 1]), "3 points but labels_true has 2"),
        (lambda: subspace_preserving_error(np.ones((2, 3)), [0, 1]), "square"),
        (lambda: nonzeros_per_point(np.ones((2, 3))), "square"),
    ],
)
def test_bad_input_is_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call()
