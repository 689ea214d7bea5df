import numpy as np
import pytest

from dssc import ADSSC, make_union_of_subspaces
from dssc.report.count_pictures import modularity_picture, sizes_picture
from dssc.report.stability_picture import stability_picture
from dssc.report.svg_plot import count_ticks, round_ticks
from dssc.stability import Stability


@pytest.fixture(scope="module")
def exploration():
    X, _ = make_union_of_subspaces(120, n_subspaces=4, noise=0.3, random_state=0)
    return ADSSC(4, eta1=1.0, n_neighbors=12, random_state=0).fit(X).explore(range(2, 8))


def test_every_number_of_clusters_has_a_mark(exploration):
    picture = modularity_picture(exploration, 4)
    assert picture.count("<circle") == 6
    assert picture.count('class="mark own"') == 1
    best = exploration.counts[np.argmax(exploration.modularity)]
    assert f"highest at {best}" in picture


def test_every_size_has_a_mark(exploration):
    picture = sizes_picture(exploration, 4)
    assert picture.count("<circle") == sum(len(np.unique(s)) for s in exploration.sizes)


@pytest.mark.parametrize("k", [2, 100])
def test_every_cluster_has_a_dot_at_its_stability(k):
    clusters = np.linspace(0.2, 1.0, k)
    clusters[0] = np.nan
    other_neighbors = np.ones((2, k))
    found = Stability(clusters, np.ones(5), 0.6, 0.3, np.ones(5), other_neighbors)
    picture = stability_picture(found)
    assert picture.count("<circle") == k - 1
    assert picture.count('class="mark own"') == np.sum(clusters >= 0.6)
    assert "without clusters 0.30" in picture


@pytest.mark.parametrize("ends", [(0.0, 1.0), (-0.3, 0.2), (0.91, 0.912), (0.0, 70_000.0)])
def test_ticks_are_round_and_inside(ends):
    ticks = round_ticks(*ends)
    assert 2 <= len(ticks) <= 7
    assert ticks.min() >= ends[0] - 1e-9
    assert ticks.max() <= ends[1] + 1e-9
    assert all(len(f"{tick:g}") <= 6 for tick in ticks)


def test_few_counts_are_written():
    assert len(count_ticks(1, 130)) <= 12
    assert count_ticks(2, 6).tolist() == [2, 3, 4, 5, 6]
