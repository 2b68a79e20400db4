"""A pool of real records for the tiny base, and jobs on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from deg_core.artifacts import Home
from deg_core.config import PoolSettings, SourceSettings, TrainSettings
from deg_core.pools.build import build_pools
from deg_core.pools.store import Pool
from deg_core.progress import Silent
from deg_core.training.job import TrainJob
from tests.pools.conftest import make_record, to_lines

MAX_CONTEXT = 200


@pytest.fixture(scope="session")
def pool(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """36 training and 4 validation records with every kind of fork."""
    root = tmp_path_factory.mktemp("training")
    records = root / "records.jsonl"
    records.write_bytes(to_lines([make_record(number) for number in range(40)]))
    settings = PoolSettings(
        sources=(SourceSettings(records=str(records)),), base=str(tiny_base), max_context_tokens=MAX_CONTEXT
    )
    (manifest,) = build_pools(settings, Home(root / "home"), Silent())
    return manifest.path


@pytest.fixture(scope="session")
def examples(pool: Path) -> list:
    """The first five training examples."""
    opened = Pool.open(pool)
    return [opened.example(index) for index in range(5)]


@pytest.fixture(scope="session")
def settings(tiny_base: Path) -> Callable[..., TrainSettings]:
    """Settings of a short run; arguments replace them."""

    def make(**changes) -> TrainSettings:
        small = {"steps": 3, "budget_tokens": 700, "save_every": 2, "warmup_steps": 1, "lora_rank": 4}
        return TrainSettings(base=str(tiny_base), init="fresh", device="cpu", **(small | changes))

    return make


@pytest.fixture
def job(settings: Callable[..., TrainSettings], pool: Path, tiny_base: Path, tmp_path: Path) -> Callable[..., TrainJob]:
    """A job for a trainer in this process; arguments replace settings."""

    def make(**changes) -> TrainJob:
        folder = tmp_path / "run"
        folder.mkdir(exist_ok=True)
        return TrainJob(
            settings=settings(**changes),
            folder=folder,
            home=tmp_path / "home",
            base=tiny_base,
            pools=[(pool, 1.0)],
            max_context_tokens=MAX_CONTEXT,
        )

    return make
