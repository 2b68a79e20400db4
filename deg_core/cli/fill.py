"""`deg fill`: one text to the response of contract section 8, or a corpus to Parquet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from deg_core import steps
from deg_core.artifacts import Home
from deg_core.bulk.documents import make_document
from deg_core.chain import direct, own_data
from deg_core.cli.chain import report
from deg_core.cli.options import HomeOption, home_of, takes_settings
from deg_core.config import DataSettings, FillSettings
from deg_core.contract.errors import InputError
from deg_core.inputs import read_text
from deg_core.progress import Terminal


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("fill")(takes_settings(FillSettings)(fill))


def fill(
    settings: FillSettings,
    schema: Annotated[Path | None, typer.Option("--schema", help="JSON Schema file of the value.")] = None,
    text: Annotated[Path | None, typer.Option("--text", help="Text file to fill from; - = standard input.")] = None,
    home: HomeOption = None,
) -> None:
    """Fill a schema from one text (--schema, --text), or from every document of a corpus (--corpus)."""
    place = home_of(home)
    if text is not None:
        if schema is None:
            raise typer.BadParameter("give --schema as well", param_hint="--text")
        typer.echo(json.dumps(fill_text(settings, place, schema, text), ensure_ascii=False, indent=2))
        return
    if schema is not None:
        settings = settings.model_copy(update={"schema_path": str(schema)})
    if settings.schema_path == steps.OWN and settings.corpus != steps.OWN:
        raise typer.BadParameter("give the schema of its values with --schema", param_hint="--corpus")
    data = own_data(DataSettings(), direct(place, Terminal()), settings)
    report(steps.fill_corpus(settings, place, Terminal(), data=data.path if data else None))


def fill_text(settings: FillSettings, home: Home, schema: Path, text: Path) -> dict[str, Any]:
    """The response of contract section 8 for one text."""
    wanted, document = steps.read_schema(schema), make_document(0, None, read_text(text), None, 0)
    if document.text is None:
        raise InputError(f"{text}: {document.error}")
    from deg_core.model.model import load_model
    from deg_core.runtime.engine import fill as fill_one

    checkpoint = steps.filling_checkpoint(settings.model, home)
    model = load_model(checkpoint, dtype=settings.dtype, generate=settings.generate, home=home)
    return fill_one(model, document.text, wanted, **settings.options.model_dump())
