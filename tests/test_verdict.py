import pickle
from dataclasses import replace

import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.stability import Stability
from dssc.verdict import Evidence, gather_evidence, judge


def evidence(clusters, chance=0.2, sizes=None, mass=None, distance=1.0, converged=True):
    """Return evidence with the stability of some clusters."""
    k = len(clusters)
    sizes = np.full(k, 50) if sizes is None else np.array(sizes)
    clusters = np.array(clusters, dtype=float)
    mean = float(np.average(clusters, weights=sizes))
    every = np.ones(sizes.sum())
    stability = Stability(clusters, every, mean, chance, every, np.tile(clusters, (2, 1)))
    mass = np.diag(sizes).astype(float) if mass is None else np.array(mass, dtype=float)
    joining = np.full((k, k), 7)
    return Evidence(sizes, stability, distance, np.ones(k), mass, joining, None, converged)


@pytest.mark.parametrize(
    ("clusters", "chance", "kind"),
    [
        ([1.0, 1.0], 0.3, "clear"),
        ([0.8, 0.8], 0.3, "clear"),
        ([0.7, 0.8], 0.3, "partial"),
        ([0.95, 0.95], 0.93, "chance"),
        ([0.3, 0.3], 0.28, "chance"),
        ([1.0], 1.0, "single"),
    ],
)
def test_kinds(clusters, chance, kind):
    assert judge(evidence(clusters, chance)).kind == kind


def test_structure_without_stable_clusters_is_not_called_chance():
    verdict = judge(evidence([0.95, 0.95], chance=0.93, distance=0.5))
    assert verdict.kind == "partial"
    assert verdict.headline.startswith("the points have structure, but 2 clusters")
    assert verdict.next_steps == ["try other numbers of clusters: explore() compares several"]


def test_a_small_margin_above_chance_needs_structure():
    assert judge(evidence([0.85, 0.85], chance=0.77, distance=1.1)).kind == "chance"
    assert judge(evidence([0.85, 0.85], chance=0.77, distance=0.9)).kind == "clear"
    assert judge(evidence([0.85, 0.85], chance=0.77, distance=np.nan)).kind == "clear"
    assert judge(evidence([0.85, 0.85], chance=0.65, distance=1.1)).kind == "clear"


def test_one_large_cluster_beside_stray_points_is_not_clear():
    verdict = judge(evidence([0.95, 0.0, 0.0], sizes=[196, 2, 2]))
    assert verdict.evidence.stability.mean > 0.9
    assert verdict.kind == "partial"


def test_what_is_said_of_a_clear_clustering():
    verdict = judge(evidence([1.0, 0.9]))
    assert verdict.headline == "all 2 clusters are found again in random halves of the points"
    assert verdict.next_steps == []
    assert "nothing: use the labels" in str(verdict)


def test_touching_clusters_are_named_if_one_is_doubtful():
    mass = [[40, 10, 0], [10, 40, 0], [0, 0, 50]]
    steps = judge(evidence([0.5, 0.9, 1.0], mass=mass)).next_steps
    assert steps[0] == (
        "clusters 0 and 1 touch through 7 and 7 of their points: look at these, or try k = 2"
    )
    assert steps[1].startswith("cluster 0 is not found again reliably")
    assert judge(evidence([0.9, 0.9, 1.0], mass=mass)).next_steps == []


def test_small_clusters_are_mentioned_without_alarm():
    verdict = judge(evidence([1.0, 1.0, 1.0], sizes=[100, 100, 3]))
    assert verdict.kind == "clear"
    assert verdict.next_steps == [
        "cluster 2 is small (3 points): perhaps outliers, which contamination=... leaves out"
    ]


def test_a_projection_that_did_not_converge_comes_first():
    assert judge(evidence([0.3, 0.3], converged=False)).next_steps[0].startswith("the projection")


def test_many_clusters_are_listed_in_part():
    text = str(judge(evidence(np.linspace(0.2, 1.0, 40))))
    assert "and 28 more that are found again as often or more" in text
    assert "clusters 0, 1, 2, 3 and 16 more are not found again reliably" in text


def test_evidence_counts_what_joins_clusters():
    A = np.array([[0.5, 0.5, 0.0], [0.5, 0.3, 0.2], [0.0, 0.2, 0.8]])
    stability = Stability(np.ones(2), np.ones(3), 1.0, 0.2, np.ones(3), np.ones((2, 2)))
    labels = np.array([0, 0, 1])
    found = gather_evidence(A, labels, 2, np.ones(3), stability, 1.0, None, converged=True)
    np.testing.assert_allclose(found.mass, [[1.8, 0.2], [0.2, 0.8]])
    assert found.n_joining.tolist() == [[2, 1], [1, 1]]
    np.testing.assert_allclose(found.touching, [[0, 0.2], [0.2, 0]])
    assert not replace(found, mass=found.mass / 10).touching.any()


def test_clean_says_clear_and_noise_says_chance():
    X, _ = make_union_of_subspaces(120, n_subspaces=3, random_state=0)
    model = ADSSC(3, random_state=0).fit(X)
    verdict = model.summary()
    assert verdict.kind == "clear"
    assert "3 of 3 pairs of clusters are proved separate" in str(verdict)
    assert model.summary() is verdict
    assert pickle.loads(pickle.dumps(model)).summary().kind == "clear"
    noise = np.random.default_rng(0).normal(size=(120, 6))
    given = {"eta1": 1.0, "n_neighbors": 12, "random_state": 0}
    assert ADSSC(5, **given).fit(noise).summary().kind == "chance"
