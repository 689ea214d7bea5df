import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from dssc import kernels
from tests.kernels.inputs import random_graph

CACHE_PROBE = """
import json, numpy as np
from dssc import kernels, project_doubly_stochastic
project_doubly_stochastic(np.random.default_rng(0).random((300, 300)), 0.1)
dispatchers = [f for f in vars(kernels).values() if hasattr(f, "stats")]
print(json.dumps(sum(sum(f.stats.cache_misses.values()) for f in dispatchers)))
"""


def test_one_thread_and_two_give_the_same_bits(rng):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("this machine gives numba one thread")
    graph, w = random_graph(rng, 500, density=0.05)
    outcomes = []
    for n_threads in (1, 2):
        numba.set_num_threads(n_threads)
        sums, squares, x = np.empty(500), np.empty(500), np.empty(500)
        kernels.row_sums(*graph, w, sums, squares, np.empty(500, dtype=np.int64))
        kernels.solve_pattern(graph[0], graph[1], 1.01 * np.diff(graph[0]), w, 1e-10, 99, x)
        outcomes.append((sums, squares, x))
    for one, two in zip(*outcomes, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_second_process_does_not_compile_again(tmp_path):
    def misses():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", CACHE_PROBE]
        done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        return json.loads(done.stdout)

    assert misses() > 0
    assert misses() == 0
