"""Prefect's settings for this project: `prefect.env`, put into the environment before Prefect reads it."""

from __future__ import annotations

import os
from pathlib import Path

from dotenv import dotenv_values

from deg_core.artifacts import Home
from deg_core.training.guard import die_with_parent

PROJECT = Path(__file__).resolve().parents[1]
FILE = PROJECT / "prefect.env"


def load_environment() -> None:
    """Set every variable of prefect.env that is not set already; the home folders become absolute and are made."""
    os.environ["DEG_HOME"] = str(Home().root)
    os.environ.setdefault("DEG_PROJECT", str(PROJECT))
    for name, value in dotenv_values(FILE).items():
        if value is not None:
            os.environ.setdefault(name, value)
    Path(os.environ["PREFECT_HOME"]).mkdir(parents=True, exist_ok=True)  # Prefect makes no folder above its own


def started_by_worker() -> bool:
    """Whether this is the process of a flow run that a worker started."""
    return bool(os.environ.get("PREFECT__FLOW_RUN_ID"))


def die_with_worker() -> None:
    """In the process of a flow run that a worker started: end when the worker ends.

    A worker that is killed would leave the run going on, unseen, while the server calls it crashed.
    """
    if started_by_worker():
        die_with_parent(os.getppid())
