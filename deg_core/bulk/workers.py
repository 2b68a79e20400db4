"""Worker processes that fill shards and may die at any moment without losing or repeating a document.

Each worker has a pipe of its own (a shared queue's lock would stay taken when its holder is killed). A
dead worker is replaced and its shard goes back in line; a shard that keeps killing workers is filled
document by document, and the document that kills them becomes an error row.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from deg_core.bulk.job import FillJob, Shard
from deg_core.bulk.shards import ShardFiller, error_text
from deg_core.bulk.writer import PartSummary, PartWriter, Row
from deg_core.contract import compile_schema
from deg_core.contract.errors import DegError, InputError
from deg_core.progress import Bar
from deg_core.training.guard import die_with_parent

SHARD_RETRIES = 2
DOCUMENT_RETRIES = 1
START_RETRIES = 2


@dataclass
class Task:
    """A shard, or one document of it; deaths: workers that died on it."""

    shard: Shard
    number: int | None = None
    deaths: int = 0


class _Worker:
    """A process and this side of its pipe. task: what it works on; advanced: documents it reported of it."""

    def __init__(self, job: FillJob, core: int):
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.core = core
        self.ready = False
        self.task: Task | None = None
        self.advanced = 0
        self.process = context.Process(target=_work, args=(theirs, job, core, os.getpid()), daemon=True)
        self.process.start()
        theirs.close()

    def give(self, task: Task) -> None:
        self.task, self.advanced = task, 0
        try:
            self.connection.send((task.shard, task.number))
        except OSError:
            return  # it died; its end of the pipe says so at the next receive

    def receive(self) -> tuple[str, Any] | None:
        """Its next message; None when it is dead."""
        try:
            return self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            return None

    def stop(self) -> None:
        """Kill it: parts are written atomically, so nothing is lost but unfinished work."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def epitaph(self) -> str:
        code = self.process.exitcode or 0
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


class WorkerPool:
    """Fills shards with worker processes, each pinned to one core with one thread."""

    def __init__(self, job: FillJob, workers: int, bar: Bar):
        self._job, self._bar = job, bar
        self._cores = sorted(os.sched_getaffinity(0))
        self._count = workers
        self._workers: list[_Worker] = []
        self._waiting: deque[Task] = deque()
        self._isolated: dict[int, dict[int, Row]] = {}
        self._failed_starts = 0

    def run(self, shards: Iterable[Shard]) -> Generator[PartSummary, None, None]:
        """Summaries of the parts as they get done, in any order; every worker is dead when it ends.

        Raises what a worker could not start for, as InputError or DegError.
        """
        self._waiting.extend(Task(shard) for shard in shards)
        open_shards = len(self._waiting)
        try:
            for place in range(min(self._count, open_shards)):
                self._workers.append(_Worker(self._job, self._cores[place % len(self._cores)]))
            while open_shards:
                for summary in self._step():
                    open_shards -= 1
                    yield summary
        finally:
            for worker in self._workers:
                worker.stop()

    def _step(self) -> Iterator[PartSummary]:
        """Hand out work, wait for messages, and take one from each worker that has some."""
        for worker in self._workers:
            if worker.ready and worker.task is None and self._waiting:
                worker.give(self._waiting.popleft())
        ready = wait([worker.connection for worker in self._workers])
        for worker in [worker for worker in self._workers if worker.connection in ready]:
            message = worker.receive()
            summary = self._bury(worker) if message is None else self._take(worker, *message)
            if summary is not None:
                yield summary

    def _take(self, worker: _Worker, kind: str, content: Any) -> PartSummary | None:
        if kind == "failed":
            raise content
        if kind == "advance":
            worker.advanced += content
            self._bar.advance(content)
            return None
        worker.task = None
        if kind == "ready":
            worker.ready, self._failed_starts = True, 0
            return None
        if kind == "row":
            return self._row(*content)
        return content

    def _bury(self, worker: _Worker) -> PartSummary | None:
        """Replace a dead worker and put its task back in line, or give the task up."""
        worker.stop()
        place = self._workers.index(worker)
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts > START_RETRIES:
                raise DegError(
                    f"fill workers die while they load the model ({worker.epitaph()}); with too little memory use fewer workers"
                )
        self._workers[place] = _Worker(self._job, worker.core)
        task = worker.task
        if task is None:
            return None
        self._bar.advance(-worker.advanced)
        task.deaths += 1
        if task.number is None:
            self._retry_shard(task)
            return None
        if task.deaths <= DOCUMENT_RETRIES:
            self._waiting.appendleft(task)
            return None
        return self._give_up(task.shard, task.number, worker.epitaph())

    def _retry_shard(self, task: Task) -> None:
        if task.deaths <= SHARD_RETRIES:
            self._waiting.append(task)
            return
        self._isolated[task.shard.index] = {}
        self._waiting.extendleft(Task(task.shard, number) for number in range(task.shard.start, task.shard.stop))

    def _give_up(self, shard: Shard, number: int, epitaph: str) -> PartSummary | None:
        documents = self._job.open_corpus().documents(shard.start, shard.offset)
        doc_id = next(document.doc_id for document in documents if document.number == number)
        return self._row(shard, number, Row(doc_id, None, f"its fill worker died each time ({epitaph})", None))

    def _row(self, shard: Shard, number: int, row: Row) -> PartSummary | None:
        """Keep the row of an isolated document; write the part with the last one."""
        rows = self._isolated[shard.index]
        rows[number] = row
        self._bar.advance(1)
        if len(rows) < len(shard):
            return None
        del self._isolated[shard.index]
        writer = PartWriter(self._job.folder, self._job.key, compile_schema(self._job.schema))
        return writer.write(shard, [rows[number] for number in range(shard.start, shard.stop)])


def _work(connection: Connection, job: FillJob, core: int, parent: int) -> None:
    """A worker's life: load, then fill what comes through the pipe until it closes."""
    die_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.sched_setaffinity(0, {core})
    os.environ["OMP_NUM_THREADS"] = "1"
    try:
        filler = ShardFiller(job)
        connection.send(("ready", None))
        while True:
            shard, number = connection.recv()
            if number is None:
                connection.send(("part", filler.fill(shard, lambda n: connection.send(("advance", n)))))
            else:
                connection.send(("row", (shard, number, filler.fill_one(shard, number))))
    except (EOFError, BrokenPipeError):  # the parent is gone
        return
    except InputError as error:
        connection.send(("failed", InputError(str(error))))
    except Exception as error:
        import traceback

        connection.send(("failed", DegError(f"a fill worker failed: {error_text(error)}\n{traceback.format_exc()}")))
