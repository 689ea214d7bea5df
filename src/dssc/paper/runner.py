"""Running many jobs: each finished one adds a line of JSON, so that nothing is lost."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import active_children, get_context
from pathlib import Path
from typing import Any

from dssc.paper.experiments import Job, job_key


class Results:
    """A file of results, one per line. A line that a killed run left unfinished is dropped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines: list[Job] = []
        if path.exists():
            content = path.read_bytes()
            whole = content[: content.rfind(b"\n") + 1]
            self.lines = [self._parse(text, i) for i, text in enumerate(whole.splitlines(), 1)]
            if len(whole) < len(content):
                os.truncate(path, len(whole))

    def add(self, result: Job) -> None:
        """Append a line and write it to the disk; what was not run is recorded only once."""
        if not _was_run(result) and job_key(result) in map(job_key, self.lines):
            return
        with self.path.open("ab") as file:
            file.write(json.dumps(result).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self.lines.append(result)

    def pending(self, jobs: list[Job]) -> list[Job]:
        """Return the jobs without a result, each once; those that were not run are tried again."""
        done = {job_key(line) for line in self.lines if _was_run(line)}
        by_key = {job_key(job): job for job in jobs}
        return [job for key, job in by_key.items() if key not in done]

    def _parse(self, text: bytes, number: int) -> Job:
        try:
            return json.loads(text)
        except ValueError as error:
            raise ValueError(f"{self.path}, line {number} is not JSON: {error}") from error


def _was_run(line: Job) -> bool:
    """Return whether neither the data were missing nor the machine was unsuitable."""
    return not (line.get("missing") or line.get("elsewhere"))


def run_pending(
    jobs: list[Job], results: Results, run: Callable[[Job], Job], n_processes: int = 1
) -> Iterator[Job]:
    """Run the jobs that have no result yet, and yield each result once its line is written.

    Parameters
    ----------
    jobs : list of dict
        The jobs.
    results : Results
        The results so far, to which new ones are added.
    run : callable
        Returns a job with its result; must be picklable if there are several processes.
    n_processes : int, default=1
        Number of processes; 1 runs the jobs in this process.
    """
    pending = results.pending(jobs)
    done = map(run, pending) if n_processes == 1 else _in_processes(pending, run, n_processes)
    for result in done:
        results.add(result)
        yield result


def _in_processes(jobs: list[Job], run: Callable[[Job], Job], n_processes: int) -> Iterator[Job]:
    n_threads = max(1, (os.cpu_count() or 1) // n_processes)
    others = set(active_children())
    pool = ProcessPoolExecutor(n_processes, get_context("spawn"), _initialize, (n_threads,))
    # Submit only as many jobs as there are processes, so that an interruption loses few.
    waiting, running = iter(jobs), set[Future[Any]]()
    try:
        while True:
            for job in islice(waiting, n_processes - len(running)):
                running.add(pool.submit(run, job))
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BaseException:
        for process in set(active_children()) - others:
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _initialize(n_threads: int) -> None:
    """Limit a process to its share of the cores, and leave interruptions to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    import numba
    from threadpoolctl import threadpool_limits

    threadpool_limits(n_threads)
    numba.set_num_threads(min(n_threads, numba.get_num_threads()))
