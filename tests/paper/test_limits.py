import signal
import threading
import time

import pytest

from dssc.paper import work
from dssc.paper.experiments import jobs_of
from dssc.paper.limits import OutOfTime, at_most
from dssc.paper.pages import runtimes_table
from dssc.paper.rows import in_words


def test_a_block_ends_when_its_time_is_over():
    handler = signal.getsignal(signal.SIGALRM)
    start = time.monotonic()
    with pytest.raises(OutOfTime), at_most(0.05):
        time.sleep(10)
    assert time.monotonic() - start < 5
    with at_most(60):
        pass
    assert signal.getsignal(signal.SIGALRM) is handler
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_threads_take_their_time():
    done = []

    def block():
        with at_most(1e-3):
            time.sleep(0.05)
        done.append(True)

    thread = threading.Thread(target=block)
    thread.start()
    thread.join()
    assert done


def test_a_projection_that_takes_too_long_is_stopped_and_said_to_be(tmp_path, monkeypatch):
    monkeypatch.setitem(work.read("runtimes"), "limit", 0.02)
    (job,) = (
        job
        for job in jobs_of("runtimes", quick=True)
        if (job["data"], job["method"]) == ("D4", "alternating")
    )
    line = work.do(job, tmp_path)
    assert (line["limit"], line["reached"], line["n"]) == (0.02, False, 400)
    assert in_words(line).endswith("stopped after 0.02 s")
    cells = [cell.text for row in runtimes_table([line]).rows for cell in row]
    assert "NC (stopped after 0.02 s) (n = 400)" in cells
