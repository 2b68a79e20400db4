"""A step of `deg_core.steps` as the body of a task: progress and artifacts go to Prefect, files stay ours."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.concurrency.sync import concurrency
from prefect.settings import PREFECT_API_URL
from prefect.tasks import Task

from deg_core.artifacts import Home, Manifest
from deg_core.config.settings import Settings
from deg_core.contract.errors import InputError, ProblemsError
from tasks.artifacts import publish_manifest
from tasks.progress import PrefectProgress

GPU = "gpu"
RETRY_DELAY_S = 30

# A step decides by itself whether its output is there, so Prefect caches and keeps nothing.
STEP_OPTIONS: dict[str, Any] = {"cache_policy": NO_CACHE, "persist_result": False}


def is_worth_retrying(task: Task[Any, Any], run: TaskRun, state: State[Any]) -> bool:
    """Not for errors that say what the user must do: a second try would say the same."""
    del task, run
    result = state.result(raise_on_failure=False)
    return not isinstance(result, (InputError, ProblemsError))


RESUMABLE: dict[str, Any] = {
    **STEP_OPTIONS,
    "retries": 1,
    "retry_delay_seconds": RETRY_DELAY_S,
    "retry_condition_fn": is_worth_retrying,
    "tags": [GPU],
}


def run_step(step: Callable[..., Any], settings: Settings, *, exclusive: bool = False, **inputs: Any) -> Any:
    """Run a step inside a task run and publish what it made.

    exclusive: hold the `gpu` concurrency limit meanwhile, where the server has one (a server that the flow started
    for itself has none). A lease that is lost does not stop the step: the OS lock of the training process is what
    protects the device.
    """
    limited = exclusive and PREFECT_API_URL.value()
    with concurrency(GPU, strict=False, raise_on_lease_renewal_failure=False) if limited else nullcontext():
        progress = PrefectProgress()
        made = step(settings, Home(), progress, **inputs)
    for manifest in made if isinstance(made, list) else [made]:
        if isinstance(manifest, Manifest):
            publish_manifest(manifest)
            if manifest.cached:
                progress.say(f"{manifest.id} was there already; nothing was run")
    return made
