"""A Prefect server for the session, and a home folder of one's own for each test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Prefect's own test server with a database of its own."""
    os.environ.setdefault("DEG_HOME", str(tmp_path_factory.mktemp("home")))
    from prefect.testing.utilities import prefect_test_harness

    import tasks  # noqa: F401  sets what Prefect reads from the environment

    with prefect_test_harness(server_startup_timeout=120):
        yield


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """DEG_HOME of the flows of this test, with a machine lock that no other run holds."""
    monkeypatch.setenv("DEG_HOME", str(tmp_path))
    monkeypatch.setenv("DEG_MACHINE_LOCK", str(tmp_path / "machine.lock"))
    return tmp_path
