"""Steps called as tasks: what the chain calls inside a flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deg_core import steps
from deg_core.config.settings import Settings
from tasks.calibrate import calibrate
from tasks.data import build_data
from tasks.evaluate import evaluate
from tasks.fill import fill_corpus
from tasks.gate import run_gate
from tasks.memory import calibrate_memory
from tasks.pools import build_pools
from tasks.train import train

TASKS: dict[Callable[..., Any], Callable[..., Any]] = {
    steps.build_data: build_data,
    steps.build_pools: build_pools,
    steps.calibrate_memory: calibrate_memory,
    steps.train: train,
    steps.calibrate: calibrate,
    steps.evaluate: evaluate,
    steps.run_gate: run_gate,
    steps.fill_corpus: fill_corpus,
}


def as_task(step: Callable[..., Any], settings: Settings, **inputs: Any) -> Any:
    """Run a step's task directly, in this thread: a child process must die with the thread that started it."""
    return TASKS[step](settings, **inputs)
