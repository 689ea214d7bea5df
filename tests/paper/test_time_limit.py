import signal
import threading
import time

import pytest

from dssc.paper.time_limit import OutOfTime, time_limit


def test_a_block_ends_when_its_time_is_over():
    handler = signal.getsignal(signal.SIGALRM)
    start = time.monotonic()
    with pytest.raises(OutOfTime), time_limit(0.05):
        time.sleep(10)
    assert time.monotonic() - start < 5
    with time_limit(60):
        pass
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_threads_take_their_time():
    done = []

    def block():
        with time_limit(1e-3):
            time.sleep(0.05)
        done.append(True)

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert done
