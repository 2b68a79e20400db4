"""`deg`: the command line. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import signal
import sys
from types import FrameType

import typer

from deg_core.cli import chain, doctor, fill, models, sql, validate
from deg_core.cli.outcome import exit_code

app = typer.Typer(
    name="deg",
    help="Fill a JSON Schema from a text: decide, extract, generate. Exit codes: 0 done, 1 the answer is no, "
    "2 wrong usage or unreadable input, 3 something broke.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for group in (fill, validate, chain, models, sql, doctor):
    group.register(app)


def main() -> None:
    """Entry point of the console script."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.exit(exit_code(lambda: app(standalone_mode=False)))


def _terminate(number: int, frame: FrameType | None) -> None:
    """SIGTERM unwinds the stack, so that children are stopped on the way."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
