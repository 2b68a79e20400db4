"""Task: records to pools."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import PoolSettings
from tasks.step import STEP_OPTIONS, run_step


@task(name="build-pools", description="Records files to pools of examples (Arrow).", **STEP_OPTIONS)
def build_pools(settings: PoolSettings, data: Path | None) -> list[Manifest]:
    return run_step(steps.build_pools, settings, data=data)
