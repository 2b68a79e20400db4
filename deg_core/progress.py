"""Progress of a long step, without knowing who watches: a terminal, Prefect or nobody."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console


class Bar(Protocol):
    """One running count."""

    def advance(self, n: float = 1, note: str = "") -> None:
        """Move on by n; note is a short text such as "loss 0.31"."""


class Progress(Protocol):
    """What a step reports to."""

    def bar(self, description: str, total: float | None) -> AbstractContextManager[Bar]:
        """A context manager that yields a Bar; total None = unknown."""

    def say(self, line: str) -> None:
        """A milestone worth a line of log."""


class _SilentBar:
    def advance(self, n: float = 1, note: str = "") -> None:
        del n, note


class Silent:
    """Reports to nobody."""

    @contextmanager
    def bar(self, description: str, total: float | None) -> Iterator[Bar]:
        del description, total
        yield _SilentBar()

    def say(self, line: str) -> None:
        del line


class Terminal:
    """Rich progress bars on standard error, so that standard output stays for results.

    console: where else they go. Lines that others print to the same console appear above a bar.
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True, emoji=False)
        self._live = None

    @contextmanager
    def bar(self, description: str, total: float | None) -> Iterator[Bar]:
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )
        from rich.progress import (
            Progress as RichProgress,
        )

        columns = (
            TextColumn("{task.description:<28}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with RichProgress(*columns, console=self._console) as live:
            task = live.add_task(description, total=total, note="")

            class _RichBar:
                def advance(self, n: float = 1, note: str = "") -> None:
                    live.update(task, advance=n)
                    if note:
                        live.update(task, note=note)

            yield _RichBar()

    def say(self, line: str) -> None:
        self._console.print(line, highlight=False, markup=False)
