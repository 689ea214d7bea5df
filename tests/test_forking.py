import os
import subprocess
import sys

import pytest

# A process that uses threads and then forks.
FORK = """
import multiprocessing
import dssc
X, _ = dssc.make_union_of_subspaces(120, n_subspaces=3, random_state=0)
many, _ = dssc.make_union_of_subspaces(2100, n_subspaces=3, n_features=12, random_state=0)
PARAMETERS = {"eta1": 1.0, "n_neighbors": 8, "random_state": 0}
def work(name):
    if name == "LSR":
        model = dssc.LSR(3, random_state=0).fit(X)
    else:
        model = dssc.ADSSC(3, **PARAMETERS).fit(many if name == "many" else X)
    return model.labels_.tolist(), model.affinity_matrix_.sum()
if __name__ == "__main__":
    names = ["LSR", "ADSSC", "many"]
    expected = [work(name) for name in names]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(work, names).get(100) == expected
    print("the same")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_gives_the_same_results():
    done = subprocess.run(
        [sys.executable, "-c", FORK],
        env={**os.environ, "OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "the same\n", done.stderr
