"""Tasks on the workers of a cluster, with results that are checked on arrival."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import uuid4

from dssc.stochastic.scan_parts import PartResult

# Tasks that wait for each thread of a worker.
TASKS_PER_THREAD = 3
# Times that a task is computed at most before its result must be intact.
ATTEMPTS = 3
# Results after which the number of workers is asked for again.
RECOUNT = 50


class Task(NamedTuple):
    """A pure function and its arguments, among them futures. It returns a `PartResult`.

    The name is a word for the kind of task and, after a blank, what tells it from others.
    """

    name: str
    function: Callable[..., PartResult]
    arguments: tuple[Any, ...]


@dataclass
class Work:
    """What workers did for a fit.

    Attributes
    ----------
    n_tasks : int
        Results that arrived.
    n_repeated : int
        Those among them that were damaged on their way, so that they were computed again.
    n_bytes : int
        Bytes of intact results.
    n_bytes_between : int
        Bytes that workers sent to each other, but for those of workers that were lost.
    """

    n_tasks: int = 0
    n_repeated: int = 0
    n_bytes: int = 0
    n_bytes_between: int = 0


class Workers:
    """Runs tasks on the workers of a `distributed` client.

    If a worker is lost, others compute its tasks and what these depend on again.

    Parameters
    ----------
    client : distributed.Client
        The client.
    """

    def __init__(self, client: Any):
        self.client, self.tag = client, uuid4().hex[:8]
        self.work = Work()
        self._n_runs = self._n_kept = 0
        self._sent_before = self._sent()

    def key(self, name: str) -> str:
        """Return a key for a task; the part before the tag is what Dask's dashboard shows."""
        return f"dssc-{name}-{self.tag}"

    def run(
        self, next_task: Callable[[], Task | None], balanced: bool = False
    ) -> Iterator[tuple[str, PartResult]]:
        """Yield the names of tasks with their intact results, in the order in which they arrive.

        `next_task` returns a task, or None if none is ready; more may be ready after a result. With
        `balanced`, each task goes to the worker with the fewest of them. Otherwise Dask decides; it
        prefers workers that hold what a task needs, even where others wait.
        """
        from distributed import as_completed

        self._n_runs += 1
        arriving = as_completed(with_results=True)
        running: dict[str, tuple[Task, str | None]] = {}
        attempts: dict[str, int] = {}
        waiting = _Waiting(self.client)

        def submit(task: Task) -> None:
            attempts[task.name] = attempts.get(task.name, 0) + 1
            worker = waiting.least_busy() if balanced else None
            future = self._submit(task, attempts[task.name], worker)
            running[future.key] = task, worker
            waiting.counts[worker] += 1
            arriving.add(future)

        def fill() -> None:
            while len(running) < waiting.most and (task := next_task()):
                submit(task)

        fill()
        while running:
            future, result = next(arriving)
            task, worker = running.pop(future.key)
            waiting.counts[worker] -= 1
            self.work.n_tasks += 1
            if self.work.n_tasks % RECOUNT == 0:
                waiting.recount()
            if not result.is_intact:
                check_attempts(task.name, attempts[task.name])
                self.work.n_repeated += 1
                submit(task)
                continue
            self.work.n_bytes += len(result.content)
            fill()  # before the result is worked on here
            yield task.name, result
            fill()

    def run_all(self, tasks: list[Task]) -> dict[str, PartResult]:
        """Return the results of tasks by name."""
        waiting = iter(tasks)
        return dict(self.run(lambda: next(waiting, None)))

    def hold(self, name: str, value: Any) -> Any:
        """Return a future of a value that the scheduler keeps, so that no worker can lose it."""
        return self.keep(name, unchanged, value)

    def keep(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return a future of what a pure function returns, which stays on the workers."""
        self._n_kept += 1  # a key must never stand for two values
        key = f"{self.key(name)}-{self._n_kept}"
        return self.client.submit(function, *arguments, key=key, retries=ATTEMPTS)

    def count_bytes_between(self) -> None:
        """Bring `work.n_bytes_between` up to date."""
        sent = self._sent().items()
        self.work.n_bytes_between = sum(n - self._sent_before.get(worker, 0) for worker, n in sent)

    def _sent(self) -> dict[str, int]:
        """Return how many bytes each worker has sent to others so far."""
        sent: dict[str, int] = self.client.run(sent_bytes, on_error="ignore")
        return sent

    def _submit(self, task: Task, attempt: int, worker: str | None) -> Any:
        kind, number = task.name.split()
        return self.client.submit(
            task.function,
            *task.arguments,
            key=f"{self.key(kind)}-{self._n_runs}-{number}-{attempt}",
            retries=ATTEMPTS,
            workers=worker,
            allow_other_workers=worker is not None,  # if that one is lost
        )


class _Waiting:
    """How many tasks of a run wait at each worker."""

    def __init__(self, client: Any):
        self.client = client
        self.counts: Counter[str | None] = Counter()
        self.recount()

    def recount(self) -> None:
        """Ask which workers there are."""
        self.threads: dict[str, int] = self.client.nthreads()

    @property
    def most(self) -> int:
        """The number of tasks that may wait."""
        return max(1, TASKS_PER_THREAD * sum(self.threads.values()))

    def least_busy(self) -> str | None:
        """Return the worker with the fewest waiting tasks per thread, if there are workers."""
        return min(self.threads, key=self._tasks_per_thread, default=None)

    def _tasks_per_thread(self, worker: str) -> float:
        return self.counts[worker] / self.threads[worker]


def check_attempts(name: str, n_attempts: int) -> None:
    """Raise an error if a task was tried often enough."""
    if n_attempts >= ATTEMPTS:
        raise RuntimeError(
            f"the result of {name!r} came back damaged {n_attempts} times: its checksum does not "
            "match; check the memory and the network of the workers"
        )


def sent_bytes(dask_worker: Any) -> int:
    """Return how many bytes a worker has sent to others so far; Dask passes it by this name."""
    return int(dask_worker.transfer_outgoing_bytes_total)


def unchanged(value: Any) -> Any:
    """Return the value."""
    return value
