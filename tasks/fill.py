"""Tasks: the bulk fill, and a task run for each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

from prefect import task
from prefect.futures import wait

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import FillSettings
from deg_core.progress import Bar
from tasks.step import RESUMABLE, STEP_OPTIONS, run_step

if TYPE_CHECKING:
    from deg_core.bulk.job import FillJob, Shard
    from deg_core.bulk.writer import PartSummary


@task(name="fill-corpus", description="Fill a schema from every document of a corpus, to Parquet.", **RESUMABLE)
def fill_corpus(settings: FillSettings, data: Path | None = None) -> Manifest:
    return run_step(steps.fill_corpus, settings, exclusive=True, data=data, run_shards=run_shards_as_tasks)


@task(name="fill-part", task_run_name="part-{index:05d}", **STEP_OPTIONS)
def fill_part(index: int, documents: int, done: Future[PartSummary]) -> str:
    """Wait for a part that a worker process fills."""
    summary = done.result()
    return f"part {index}: {summary.filled} of {documents} documents filled"


def run_shards_as_tasks(job: FillJob, shards: list[Shard], workers: int, bar: Bar) -> Iterator[PartSummary]:
    """Worker processes fill the shards; each shard is a task run, so that the page shows which are done.

    The processes stay the engine's (one a core, each loads the model once, a dead one is replaced);
    the task runs only wait, in threads.
    """
    from deg_core.bulk.engine import run_in_workers

    done: dict[int, Future[PartSummary]] = {shard.index: Future() for shard in shards}
    runs = [fill_part.submit(shard.index, len(shard), done[shard.index]) for shard in shards]
    try:
        for summary in run_in_workers(job, shards, workers, bar):
            done[summary.index].set_result(summary)
            yield summary
    finally:
        _release(done.values())
        wait(runs)


def _release(waiting: Iterable[Future[PartSummary]]) -> None:
    """End the waits for parts that will not come."""
    for future in waiting:
        future.cancel()
