import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from dssc._threads import CALLS_PER_THREAD, block_threads, one_thread, share_rows


@pytest.mark.parametrize(("n_rows", "n_threads"), [(10, 1), (10, 3), (2, 5), (0, 2), (7, 0)])
def test_every_row_is_shared_out_once(n_rows, n_threads):
    done = np.zeros(n_rows, dtype=int)
    lock = threading.Lock()

    def work(part):
        with lock:
            done[part] += 1

    share_rows(work, n_rows, n_threads)
    assert done.tolist() == [1] * n_rows


def test_an_error_on_a_thread_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        share_rows(lambda part: 1 // 0, 10, 2)


def test_results_that_wait_are_few_and_come_in_order():
    n_threads, started = 3, []

    def call(number, offset):
        started.append(number)
        return number + offset

    with block_threads(n_threads) as in_threads:
        for n_taken, result in enumerate(in_threads(call, range(50), [100] * 50), start=1):
            assert result == 99 + n_taken
            assert len(started) <= n_taken + CALLS_PER_THREAD * n_threads
    assert sorted(started) == list(range(50))


def test_an_error_leaves_later_calls_undone():
    started = []

    def fail(number):
        started.append(number)
        raise ZeroDivisionError

    with block_threads(2) as in_threads, pytest.raises(ZeroDivisionError):
        list(in_threads(fail, range(50)))
    assert len(started) <= CALLS_PER_THREAD * 2


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.mark.parametrize("limit", [one_thread, lambda: block_threads(2)])
def test_threads_that_overlap_do_not_end_the_limit_of_each_other(limit):
    with threadpool_limits(2, user_api="blas"):
        usual = blas_threads()
        first, second = limit(), one_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert set(blas_threads()) == {1}
        second.__exit__(None, None, None)
        assert blas_threads() == usual


def test_every_thread_can_limit_blas():
    """threadpoolctl leaves it to one thread: here the main one, which sets a limit first."""

    def inside():
        with one_thread():
            return blas_threads()

    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as other:
        usual = blas_threads()
        assert set(other.submit(inside).result()) == {1}
        assert blas_threads() == usual


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor has nothing to share")
def test_workers_of_joblib_share_the_processors():
    code = (
        "from joblib import Parallel, delayed\n"
        "from dssc.kernels import n_threads, threads_worth\n"
        "calls = [delayed(n_threads)(), delayed(threads_worth)(10**9)]\n"
        "print(max(Parallel(n_jobs=2)(calls)), n_threads())\n"
    )
    limits = ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "LOKY_MAX_CPU_COUNT")
    environment = {name: value for name, value in os.environ.items() if name not in limits}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    inside, outside = map(int, done.stdout.split())
    assert inside == outside // 2
