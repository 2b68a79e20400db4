"""`deg sql`: DuckDB over everything in the home folder."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.console import Console

from deg_core.cli.options import HomeOption, home_of
from deg_core.contract.errors import InputError


class Format(StrEnum):
    """How rows are printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("sql", rich_help_panel="Results")(sql)


def sql(
    query: Annotated[
        str | None, typer.Argument(help="SQL, or the name of a query; without it the queries and views are listed.")
    ] = None,
    format: Annotated[Format, typer.Option("--format", help="How to print the rows.")] = Format.TABLE,
    home: HomeOption = None,
) -> None:
    """Ask DuckDB: views eval_rows, eval_documents, fills, train_log, memory, promotions, quarantine, artifacts."""
    from deg_core.results.queries import NAMED, run_sql

    out = Console(emoji=False)
    if query is None:
        for name, named in NAMED.items():
            out.print(f"[bold]{name:<18}[/bold] {named.about}", soft_wrap=True)
        return
    place = home_of(home)
    if home is not None and not place.root.is_dir():
        raise InputError(f"--home {home} is no folder; name the one that holds the results")
    result = run_sql(place, query)
    if format is Format.TABLE:
        out.print(result.table())
    else:
        typer.echo(result.json() if format is Format.JSON else result.csv(), nl=format is Format.JSON)
