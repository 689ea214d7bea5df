import threading

import numpy as np
import pytest

from dssc._threads import share_rows


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
