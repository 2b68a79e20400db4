"""Saved points of a run: a checkpoint, every rank's optimizer state, and the mark that both are whole.

step-000050/                 an ordinary checkpoint
best/                        a copy of the one with the lowest validation loss, where a run may end early
step-000050.state/rank-0.safetensors ...
step-000050.state/complete.json   written last: step, lengths of the logs, skipped steps
"""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors.torch import load_file, save

from deg_core.artifacts import write_atomically

KEPT_POINTS = 2
BEST = "best"


@dataclass(frozen=True)
class Point:
    """step: optimizer steps done. log_bytes: length of each log then. skipped: steps without an update."""

    step: int
    log_bytes: dict[str, int]
    skipped: int = 0


def checkpoint_folder(run: Path, step: int) -> Path:
    """The checkpoint of a saved point."""
    return run / f"step-{step:06d}"


def state_folder(run: Path, step: int) -> Path:
    """The optimizer states of a saved point."""
    return run / f"step-{step:06d}.state"


def save_state(run: Path, step: int, rank: int, state: dict[str, torch.Tensor]) -> None:
    """Write one rank's optimizer state."""
    folder = state_folder(run, step)
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in state.items()}
    write_atomically(folder / f"rank-{rank}.safetensors", save(tensors))


def load_rank_state(run: Path, step: int, rank: int) -> dict[str, torch.Tensor]:
    """One rank's optimizer state of a saved point."""
    return load_file(state_folder(run, step) / f"rank-{rank}.safetensors")


def complete(run: Path, point: Point) -> None:
    """Mark a saved point whole and drop the points before the last two."""
    write_atomically(state_folder(run, point.step) / "complete.json", json.dumps(asdict(point)).encode())
    steps = sorted(int(match[1]) for path in run.iterdir() if (match := re.fullmatch(r"step-(\d+)", path.name)))
    for step in steps[:-KEPT_POINTS]:
        shutil.rmtree(state_folder(run, step), ignore_errors=True)
        shutil.rmtree(checkpoint_folder(run, step), ignore_errors=True)


def last_point(run: Path) -> Point | None:
    """The newest whole saved point of a run, None at its beginning."""
    points = []
    for mark in run.glob("step-*.state/complete.json"):
        point = Point(**json.loads(mark.read_text()))
        if (checkpoint_folder(run, point.step) / "deg.json").is_file():
            points.append(point)
    return max(points, key=lambda point: point.step, default=None)
