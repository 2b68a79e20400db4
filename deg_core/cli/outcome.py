"""How a command ends: what each error prints and which exit code it has (0, 1, 2 or 3)."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import NoReturn

import typer
from rich.console import Console
from typer.exceptions import Abort, TyperException

from deg_core.artifacts import Home
from deg_core.contract.errors import DegError, FillError, InputError, ProblemsError

DONE, NO, USAGE, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130

err = Console(stderr=True, highlight=False, emoji=False)


class NegativeAnswerError(Exception):
    """The command ran and the answer is no; the message says why (exit code 1)."""


def run(app: typer.Typer) -> NoReturn:
    """Be the process of a command line: run it and exit with its code."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(exit_code(lambda: app(standalone_mode=False)))


def exit_code(command: Callable[[], int | None]) -> int:
    """Run a command and say on standard error what stopped it."""
    try:
        return command() or DONE
    except TyperException as error:
        message = error.format_message()  # empty where the help was asked for by giving no command
        return _say(f"{message}\n`{_command_path(error)} --help` lists what there is.", USAGE) if message else USAGE
    except (InputError, ProblemsError) as error:
        return _say(str(error), USAGE)
    except (NegativeAnswerError, FillError) as error:
        return _say(str(error), NO)
    except (KeyboardInterrupt, Abort):
        return _say("interrupted", INTERRUPTED)
    except Exception as error:
        expected = str(error) if isinstance(error, DegError) else f"{type(error).__name__}: {error}"
        line = expected.splitlines()[0] if expected.strip() else type(error).__name__
        return _say(f"{line}\nThe traceback is in {_write_traceback()}; rerun, or report it with that file.", BROKEN)


def _terminate(number: int, frame: FrameType | None) -> None:
    """SIGTERM unwinds the stack, so that children are stopped on the way."""
    raise KeyboardInterrupt


def _say(message: str, code: int) -> int:
    err.print("error:" if code != NO else "no:", style="bold red", end=" ")
    err.print(message, markup=False, soft_wrap=True)
    return code


def _command_path(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "deg"


def _write_traceback() -> Path:
    """Keep the traceback below the home folder, or in the temporary folder where that cannot be written."""
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{os.getpid()}.log"
    text = f"{' '.join(sys.argv)}\n\n{traceback.format_exc()}"
    try:
        path = Home().folder("logs") / name
        path.write_text(text, encoding="utf-8")
    except (InputError, OSError):
        path = Path(tempfile.gettempdir()) / f"deg-{name}"
        path.write_text(text, encoding="utf-8")
    return path
