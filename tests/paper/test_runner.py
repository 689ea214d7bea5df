import os
import signal
import subprocess
import sys
import time

import pytest

from dssc.paper.runner import Results, run_pending


def jobs(count):
    return [
        {"kind": "test", "data": f"d{i}", "parameters": {"a": i}, "seed": 0} for i in range(count)
    ]


def double(job):
    return {**job, "value": 2 * job["parameters"]["a"]}


def process(job):
    return {**job, "process": os.getpid()}


def test_what_is_done_is_not_done_again(tmp_path):
    path = tmp_path / "results.jsonl"
    assert len(list(run_pending(jobs(2), Results(path), double))) == 2
    results = Results(path)
    assert [line["value"] for line in run_pending(jobs(4), results, double)] == [4, 6]
    assert [line["value"] for line in Results(path).lines] == [0, 2, 4, 6]
    assert results.pending(jobs(4)) == []


def test_other_parameters_are_another_job(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    (job,) = jobs(1)
    list(run_pending([job], results, double))
    for change in ({"parameters": {"a": 1}}, {"seed": 1}, {"runs": 10}, {"method": "TSC"}):
        assert len(results.pending([{**job, **change}])) == 1


def test_a_line_that_was_cut_off_is_done_again(tmp_path):
    path = tmp_path / "results.jsonl"
    list(run_pending(jobs(3), Results(path), double))
    content = path.read_bytes()
    for cut in range(len(content) - 1, content[:-1].rfind(b"\n"), -7):
        path.write_bytes(content[:cut])
        results = Results(path)
        assert len(results.lines) == 2
        list(run_pending(jobs(3), results, double))
        assert path.read_bytes() == content


def test_damage_elsewhere_is_not_passed_over(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"kind": "test"\n{}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="line 1 is not JSON"):
        Results(path)


def test_missing_data_are_looked_for_again_and_recorded_once(tmp_path):
    path = tmp_path / "results.jsonl"
    for _ in range(2):
        list(run_pending(jobs(1), Results(path), lambda job: {**job, "missing": True}))
    assert len(Results(path).lines) == 1
    list(run_pending(jobs(1), Results(path), double))
    assert Results(path).pending(jobs(1)) == []


def test_many_processes_do_the_same(tmp_path):
    path = tmp_path / "results.jsonl"
    done = list(run_pending(jobs(5), Results(path), process, n_processes=2))
    assert sorted(line["data"] for line in done) == [f"d{i}" for i in range(5)]
    assert os.getpid() not in {line["process"] for line in done}
    assert len(Results(path).lines) == 5


SCRIPT = """
import sys, time
from pathlib import Path
from dssc.paper.runner import Results, run_pending

def slow(job):
    time.sleep(0.2)
    return {**job, "value": 1}

if __name__ == "__main__":
    jobs = [{"kind": "test", "data": i} for i in range(int(sys.argv[2]))]
    try:
        list(run_pending(jobs, Results(Path(sys.argv[1])), slow, n_processes=int(sys.argv[3])))
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the signals are those of POSIX")
@pytest.mark.parametrize(("n_processes", "name"), [(1, "SIGKILL"), (2, "SIGINT")])
def test_a_killed_run_goes_on_where_it_was(tmp_path, n_processes, name):
    how = getattr(signal, name)
    script, path = tmp_path / "script.py", tmp_path / "results.jsonl"
    script.write_text(SCRIPT, encoding="utf-8")
    # A shell makes its background jobs, which these tests may be part of, ignore interrupts.
    running = subprocess.Popen(
        [sys.executable, script, path, "1000", str(n_processes)],
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while (not path.exists() or path.read_bytes().count(b"\n") < 2) and time.monotonic() < deadline:
        time.sleep(0.02)
    running.send_signal(how)
    assert running.wait(30) == (130 if how == signal.SIGINT else -signal.SIGKILL)
    done = len(Results(path).lines)
    assert 2 <= done < 1000
    command = [sys.executable, script, path, str(done + 2), "1"]
    subprocess.run(command, check=True, timeout=60)
    assert sorted(line["data"] for line in Results(path).lines) == list(range(done + 2))
