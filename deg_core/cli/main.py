"""`deg`: the command line. Results go to standard output, everything else to standard error."""

from __future__ import annotations

import typer

from deg_core.cli import bench, chain, doctor, fill, models, sql, validate
from deg_core.cli.outcome import run

app = typer.Typer(
    name="deg",
    help="Fill a JSON Schema from a text: decide, extract, generate. Exit codes: 0 done, 1 the answer is no, "
    "2 wrong usage or unreadable input, 3 something broke.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
for group in (fill, validate, chain, models, sql, doctor, bench):
    group.register(app)


def main() -> None:
    """Entry point of the console script."""
    run(app)


if __name__ == "__main__":
    main()
