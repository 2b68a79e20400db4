"""Progress of a step on the Prefect page: milestone lines to the run's log, bars as progress artifacts.

A flow that was started by hand draws its bars in the terminal too.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from uuid import UUID

from prefect.artifacts import create_progress_artifact, update_progress_artifact
from prefect.logging import get_run_logger
from prefect.logging.handlers import PrefectConsoleHandler
from rich.console import Console
from rich.theme import Theme

from deg_core.progress import Bar, Terminal
from tasks.environment import started_by_worker

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


class _Bars:
    """The same count in several places."""

    def __init__(self, bars: list[Bar]):
        self._bars = bars

    def advance(self, n: float = 1, note: str = "") -> None:
        for bar in self._bars:
            bar.advance(n, note)


class PrefectProgress:
    """A `deg_core.progress.Progress` inside a task or flow run."""

    def __init__(self) -> None:
        self._logger = get_run_logger()
        self._console = None if started_by_worker() else _log_console()

    @contextmanager
    def bar(self, description: str, total: float | None) -> Iterator[Bar]:
        artifact = _ArtifactBar(description, total)
        bars: list[Bar] = [artifact]
        with ExitStack() as stack:
            if self._console:
                stack.enter_context(self._console.use_theme(Theme()))  # Prefect's own lacks the styles of bars
                bars.append(stack.enter_context(Terminal(self._console).bar(description, total)))
            yield _Bars(bars)
        artifact.write()

    def say(self, line: str) -> None:
        self._logger.info("%s", line)


def _log_console() -> Console | None:
    """The console of Prefect's log lines, which then print above a bar; None where logging is set up without one."""
    handlers = logging.getLogger().handlers
    return next((handler.console for handler in handlers if isinstance(handler, PrefectConsoleHandler)), None)


def artifact_key(text: str) -> str:
    """A key that Prefect accepts: lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-") or "step"
