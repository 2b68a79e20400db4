"""Progress of a step on the Prefect page: milestone lines to the run's log, bars as progress artifacts."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.logging import get_run_logger

from deg_core.progress import Bar

UPDATE_EVERY_S = 2.0


class _ArtifactBar:
    """A count that is written to its artifact at most every UPDATE_EVERY_S seconds."""

    def __init__(self, description: str, total: float | None):
        self._description, self._total = description, total
        self._done, self._note, self._written = 0.0, "", time.monotonic()
        made = create_progress_artifact(0.0, key=artifact_key(description), description=self._text())
        assert isinstance(made, UUID)  # a coroutine only where an event loop runs
        self._artifact = made

    def advance(self, n: float = 1, note: str = "") -> None:
        self._done += n
        self._note = note or self._note
        if time.monotonic() - self._written >= UPDATE_EVERY_S:
            self.write()

    def write(self) -> None:
        """Send the count to the server."""
        share = min(1.0, self._done / self._total) if self._total else 0.0
        update_progress_artifact(self._artifact, 100.0 * share, description=self._text())
        self._written = time.monotonic()

    def _text(self) -> str:
        count = f"{self._done:g} of {self._total:g}" if self._total else f"{self._done:g}"
        return ", ".join(part for part in (f"{self._description}: {count}", self._note) if part)


class PrefectProgress:
    """A `deg_core.progress.Progress` inside a task or flow run."""

    def __init__(self) -> None:
        self._logger = get_run_logger()

    @contextmanager
    def bar(self, description: str, total: float | None) -> Iterator[Bar]:
        bar = _ArtifactBar(description, total)
        yield bar
        bar.write()

    def say(self, line: str) -> None:
        self._logger.info("%s", line)


def artifact_key(text: str) -> str:
    """A key that Prefect accepts: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "step"
