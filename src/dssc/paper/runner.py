"""Working off jobs: one line of JSON for each as it finishes, so that nothing is lost."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from dssc.paper.experiments import Job, key


class Results:
    """A file of results, a line each. A line that a killed run left unfinished is dropped."""

    def __init__(self, path: Path):
        self.path = path
        self.lines: list[Job] = []
        if path.exists():
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            self.lines = [self._parse(text, i) for i, text in enumerate(whole.splitlines(), 1)]
            if len(whole) < len(content):
                os.truncate(path, len(whole))

    def add(self, result: Job) -> None:
        """Append a line, and see it on the disk; that data lack is said once."""
        if result.get("missing") and key(result) in map(key, self.lines):
            return
        with self.path.open("ab") as file:
            file.write(json.dumps(result).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(result)

    def pending(self, jobs: list[Job]) -> list[Job]:
        """Return the jobs without a line, each once; those that lacked data are tried again."""
        done = {key(line) for line in self.lines if not line.get("missing")}
        new = {key(job): job for job in jobs}
        return [job for name, job in new.items() if name not in done]

    def _parse(self, text, number):
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"{self.path}, line {number} is no JSON: {error}") from error


def work_off(
    jobs: list[Job], results: Results, work: Callable[[Job], Job], n_jobs: int = 1
) -> Iterator[Job]:
    """Do what is not done yet and yield each result once its line is written.

    Parameters
    ----------
    jobs : list of dict
        What to do.
    results : Results
        What is done, and where results go.
    work : callable
        Returns a job with its result; to be pickled when `n_jobs` is more than one.
    n_jobs : int, default=1
        Number of processes; one works in this process.
    """
    pending = results.pending(jobs)
    for result in map(work, pending) if n_jobs == 1 else _in_processes(pending, work, n_jobs):
        results.add(result)
        yield result


def _in_processes(jobs, work, n_jobs):
    threads = max(1, (os.cpu_count() or 1) // n_jobs)
    pool = ProcessPoolExecutor(n_jobs, get_context("spawn"), _begin, (threads,))
    # As many at a time as there are processes, so that few are under way when it is interrupted.
    left, running = iter(jobs), set[Future[Any]]()
    try:
        for job in left:
            running.add(pool.submit(work, job))
            if len(running) == n_jobs:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BaseException:
        for process in list(pool._processes.values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(threads):
    """Prepare a process: its share of the cores, and interruptions left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import numba
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    numba.set_num_threads(min(threads, numba.get_num_threads()))
