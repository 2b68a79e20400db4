"""Processes that answer the documents, each pinned to one core; every answered document is kept on disk."""

from __future__ import annotations

import json
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import torch

from deg_core.artifacts import write_atomically
from deg_core.contract.errors import DegError
from deg_core.evaluation.answering import Job, systems
from deg_core.evaluation.baseline import faster_dtype
from deg_core.evaluation.determinism import check_determinism, option_flips
from deg_core.evaluation.sample import Case
from deg_core.progress import Progress
from deg_core.training.guard import die_with_parent


class WorkerDiedError(DegError):
    """A worker process was killed; what was answered is kept, so running again continues."""


def answer_cases(job: Job, cases: Sequence[Case], folder: Path, workers: int, progress: Progress) -> list[dict]:
    """The parts of all cases, in their order; those already in folder are read, not answered again.

    A part is {"rows": [...], "documents": [...]} of one document. workers: 0 = one per core that this process may
    use, and never more than those. Raises WorkerDiedError, or what a worker raised outside a document.
    """
    folder.mkdir(parents=True, exist_ok=True)
    paths = {case.number: folder / f"{case.number:06d}.json" for case in cases}
    todo = [case for case in cases if not paths[case.number].is_file()]
    cores = sorted(os.sched_getaffinity(0))
    count = min(workers or len(cores), len(cores), len(todo))
    with progress.bar("evaluate", len(cases)) as bar:
        bar.advance(len(cases) - len(todo))
        if todo:
            calls = [(_answer_case, job, case, paths[case.number]) for case in todo]
            _run(calls, cores[:count], lambda: bar.advance())
    return [json.loads(path.read_text()) for path in paths.values()]


def check_stability(job: Job, cases: Sequence[Case], seed: int, path: Path) -> dict[str, Any]:
    """Determinism and option order on these cases, in a process of its own that may use every core; kept at path."""
    if not path.is_file():
        _run([(_check_stability, job, cases, seed, path)], [None], lambda: None)
    return json.loads(path.read_text())


def pick_baseline_dtype(base: Path, path: Path) -> str:
    """The faster compute type of the baseline on one pinned core, measured once and kept at path."""
    if not path.is_file():
        _run([(_pick_baseline_dtype, base, path)], [min(os.sched_getaffinity(0))], lambda: None)
    return path.read_text()


def _run(calls: Sequence[tuple], cores: Sequence[int | None], done: Callable[[], None]) -> None:
    """Run calls (function, *arguments) in one process a core; None = not pinned."""
    context = multiprocessing.get_context("spawn")
    free = context.SimpleQueue()
    for core in cores:
        free.put(core)
    pool = ProcessPoolExecutor(len(cores), context, _start, (free, os.getpid()))
    try:
        for future in as_completed([pool.submit(*call) for call in calls]):
            future.result()
            done()
    except BrokenProcessPool as error:
        raise WorkerDiedError("an evaluation worker was killed (out of memory?); run again to continue") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start(free: Any, parent: int) -> None:
    die_with_parent(parent)
    core = free.get()
    if core is not None:
        os.sched_setaffinity(0, {core})
    torch.set_num_threads(1)


def _answer_case(job: Job, case: Case, path: Path) -> None:
    write_atomically(path, json.dumps(systems(job).answer(case)).encode())


def _check_stability(job: Job, cases: Sequence[Case], seed: int, path: Path) -> None:
    model = job.load()
    options = job.options.model_dump()
    asks = [(case.record.context, case.record.plan.schema, options) for case in cases]
    found = {"determinism": check_determinism(model, asks, seed=seed), "option_flips": option_flips(model, asks)}
    write_atomically(path, json.dumps(found).encode())


def _pick_baseline_dtype(base: Path, path: Path) -> None:
    write_atomically(path, faster_dtype(base).encode())
