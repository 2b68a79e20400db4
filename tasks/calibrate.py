"""Task: temperatures."""

from __future__ import annotations

from pathlib import Path

from prefect import task

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import CalibrateSettings
from tasks.step import RESUMABLE, run_step


@task(name="calibrate", description="One temperature per head kind, on validation records.", **RESUMABLE)
def calibrate(settings: CalibrateSettings, checkpoint: Path, pools: list[Path]) -> Manifest:
    return run_step(steps.calibrate, settings, exclusive=True, checkpoint=checkpoint, pools=pools)
