"""A training process killed ten times at moments of no choosing ends as one that nobody disturbed."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pytest
import torch
from safetensors.torch import load_file

from deg_core.training.job import TrainJob
from deg_core.training.loop import PLANNER_SCALE, Trainer
from deg_core.training.resume import Point, checkpoint_folder, last_point, state_folder

KILLS = 10
STEPS = 36  # more than ten lives of at most two steps and a moment can do
CHECKPOINT = ("adapters.safetensors", "deg.json", "heads.safetensors")
CURVE = ("step", "loss", "gradient_norm", "lr_trunk", "records", "tokens", "parts")
DEADLINE_S = 120.0


def run(job: str) -> None:
    """The body of the process that is killed."""
    torch.set_num_threads(1)
    Trainer(TrainJob.model_validate_json(job), lambda line: None).train()


def lines(folder: Path) -> int:
    path = folder / "log.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def entries(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def curve(folder: Path) -> list[list[float]]:
    return [[entry[name] for name in CURVE] for entry in entries(folder)]


def same_state(one: Path, other: Path) -> bool:
    """Whether two optimizer states are the same bits; what the planner measured may differ."""
    first, second = (load_file(path) for path in (one, other))
    assert first.keys() == second.keys()
    return all(torch.equal(first[name], second[name]) for name in first if name != PLANNER_SCALE)


def check_whole(folder: Path) -> Point | None:
    """Every folder with a checkpoint's name holds a whole one, and the newest point has its optimizer state."""
    for checkpoint in folder.glob("step-*"):
        if not checkpoint.name.endswith(".state"):
            assert sorted(path.name for path in checkpoint.iterdir()) == sorted(CHECKPOINT)
            for name in CHECKPOINT[::2]:
                assert all(tensor.isfinite().all() for tensor in load_file(checkpoint / name).values())
    point = last_point(folder)
    if point is not None:
        assert json.loads((checkpoint_folder(folder, point.step) / "deg.json").read_text())["step"] == point.step
        assert load_file(state_folder(folder, point.step) / "rank-0.safetensors")
    return point


class Prey:
    """Starts the training of a job in fresh processes."""

    def __init__(self, job: TrainJob):
        self.job = job
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__])

    def start(self) -> multiprocessing.process.BaseProcess:
        process = self._context.Process(target=run, args=(self.job.model_dump_json(),))
        process.start()
        return process

    def to_the_end(self) -> None:
        process = self.start()
        process.join(DEADLINE_S)
        assert process.exitcode == 0

    def killed(self, step_s: float) -> None:
        """One life: a step or two, and up to as long again, so that it dies in the midst of something."""
        point = last_point(self.job.folder)
        begun = point.step if point else 0
        process = self.start()
        deadline = time.monotonic() + DEADLINE_S
        alive = begun + random.randrange(1, 3)
        while lines(self.job.folder) < alive and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(random.random() * 2 * step_s)
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        assert process.exitcode == -signal.SIGKILL


@pytest.mark.slow
def test_ten_kills_leave_the_curve_of_an_unbroken_run(job: Callable[..., TrainJob], tmp_path: Path):
    chosen = job(steps=STEPS, budget_tokens=400, save_every=1)
    unbroken = Prey(chosen.model_copy(update={"folder": tmp_path / "unbroken"}))
    unbroken.job.folder.mkdir()
    unbroken.to_the_end()
    step_s = median(entry["seconds"] for entry in entries(unbroken.job.folder))
    broken = Prey(chosen)
    reached = []
    for _ in range(KILLS):
        broken.killed(step_s)
        point = check_whole(chosen.folder)
        reached.append(point.step if point else 0)
    assert reached == sorted(reached) and 0 < reached[-1] < STEPS, reached
    broken.to_the_end()
    assert curve(chosen.folder) == curve(unbroken.job.folder), reached
    last = check_whole(chosen.folder)
    assert last is not None and last.step == STEPS
    ours, theirs = (checkpoint_folder(folder, STEPS) for folder in (chosen.folder, unbroken.job.folder))
    for name in CHECKPOINT:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), reached
    states = [state_folder(folder, STEPS) / "rank-0.safetensors" for folder in (chosen.folder, unbroken.job.folder)]
    assert same_state(*states), reached
