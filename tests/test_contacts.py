import numpy as np
import pytest

from dssc.contacts import find_contacts
from dssc.graph import as_graph


@pytest.fixture
def chain():
    """Three clusters of two points; the second joins the others, the last one weakly."""
    A = np.zeros((6, 6))
    for i, j, value in ((0, 1, 4.0), (2, 3, 4.0), (4, 5, 4.0), (1, 2, 1.0), (3, 4, 0.01)):
        A[i, j] = A[j, i] = value
    return A, np.array([0, 0, 1, 1, 2, 2])


def test_shares_are_those_of_the_smaller_cluster(chain):
    A, labels = chain
    contacts = find_contacts(as_graph(A), labels, 3)
    totals = [A[labels == c].sum() for c in range(3)]
    for p in range(3):
        for q in range(3):
            mass = A[np.ix_(labels == p, labels == q)]
            expected = 0.0 if p == q else mass.sum() / min(totals[p], totals[q])
            assert contacts.shares[p, q] == pytest.approx(expected)
            assert contacts.n_joining[p, q] == np.count_nonzero(mass.any(axis=1))


def test_weak_contacts_do_not_touch(chain):
    contacts = find_contacts(as_graph(chain[0]), chain[1], 3)
    assert [contacts.touched(c).tolist() for c in range(3)] == [[1], [0], []]


def test_joining_points_come_strongest_first(chain):
    A, labels = chain
    A[0, 2] = A[2, 0] = 3.0
    contacts = find_contacts(as_graph(A), labels, 3)
    assert contacts.joining(0, 1, 5).tolist() == [0, 1]
    assert contacts.joining(0, 1, 1).tolist() == [0]
    assert contacts.joining(0, 2, 5).tolist() == []
