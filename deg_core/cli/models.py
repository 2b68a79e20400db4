"""`deg models`: the checkpoints of a home folder and which of them is champion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deg_core.cli.options import HomeOption, home_of
from deg_core.cli.outcome import err
from deg_core.contract.errors import InputError
from deg_core.registry import models as registry

group = typer.Typer(help="The checkpoints that were decided on, and the champion.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the group."""
    app.add_typer(group, name="models", rich_help_panel="Results")


@group.command("list")
def list_models(
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> None:
    """Every checkpoint that the log knows, the latest decision first."""
    found = registry.list_models(home_of(home))
    if as_json:
        typer.echo(json.dumps([{**model.__dict__, "checkpoint": str(model.checkpoint)} for model in found], indent=1))
        return
    table = Table("status", "decided", "by", "checkpoint", "content")
    for model in found:
        place = str(model.checkpoint) if model.present else f"{model.checkpoint} (gone)"
        table.add_row(model.status, model.at, model.by, Text(place), model.content[:12])
    Console().print(table)


@group.command()
def show(
    checkpoint: Annotated[Path | None, typer.Argument(help="Checkpoint folder (default: the champion).")] = None,
    home: HomeOption = None,
) -> None:
    """What was decided on a checkpoint, and why, as JSON; oldest first."""
    place = home_of(home)
    folder = checkpoint or registry.champion(place)
    if folder is None:
        raise InputError("there is no champion yet; run `deg nightly`, or `deg models promote FOLDER`")
    entries = [e for e in registry.history(place) if Path(e["checkpoint"]).resolve() == folder.resolve()]
    if not entries:
        raise InputError(f"nothing was decided on {folder}; `deg models list` shows what was")
    typer.echo(json.dumps(entries, indent=1, ensure_ascii=False))


@group.command()
def promote(
    checkpoint: Annotated[Path, typer.Argument(help="Checkpoint folder.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; it is kept in the log.")] = "by hand",
    home: HomeOption = None,
) -> None:
    """Make a checkpoint champion without asking the gate."""
    from deg_core.model.checkpoint import check_heads

    check_heads(checkpoint)
    typer.echo(registry.promote(home_of(home), checkpoint, {"promote": True, "reasons": [reason]}, "user"))


@group.command()
def rollback(home: HomeOption = None) -> None:
    """Make the previous champion champion again; repeated, it goes further back."""
    folder = registry.roll_back(home_of(home))
    err.print("champion is again:")
    typer.echo(folder)


@group.command()
def average(
    first: Annotated[Path, typer.Argument(help="Checkpoint folder.")],
    second: Annotated[Path, typer.Argument(help="One that was trained on from it.")],
    out: Annotated[Path, typer.Argument(help="Folder to write; must not exist.")],
    share: Annotated[float, typer.Option(help="Of the second, 0 to 1.")] = 0.5,
) -> None:
    """Write the checkpoint between two, which keeps more of the first than the second does; calibrate it next."""
    from deg_core.model.average import average_checkpoints

    typer.echo(average_checkpoints(first, second, share, out))
