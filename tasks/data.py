"""Task: the generated documents."""

from __future__ import annotations

from prefect import task

from deg_core import steps
from deg_core.artifacts import Manifest
from deg_core.config import DataSettings
from tasks.step import STEP_OPTIONS, run_step


@task(name="build-data", description="Generated documents: records, corpus and schema.", **STEP_OPTIONS)
def build_data(settings: DataSettings) -> Manifest:
    return run_step(steps.build_data, settings)
