"""`deg bench`: how long the parts without a model take, and how that grows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from deg_core.cli import bench_values
from deg_core.contract.errors import InputError, SchemaError

group = typer.Typer(help="How long the parts without a model take, and how that grows.", no_args_is_help=True)
LEAVES = (
    {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$", "description": "the number of the order"},
    {"type": ["number", "null"], "minimum": 0},
    {"enum": ["open", "paid", "refused"]},
    {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    {"$ref": "#/$defs/day", "title": "due"},
)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    bench_values.register(group)
    app.add_typer(group, name="bench", rich_help_panel="Results")


@group.command("compile")
def compile_command(
    schemas: Annotated[
        Path | None, typer.Option(help="Schemas to time instead of made ones: JSON Lines, each with a key schema.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="The best of this many is taken.")] = 5,
) -> None:
    """Time compile_schema: process time over schemas of growing size, or over the slowest of a file."""
    timed = [_timed(name, schema, repeats) for name, schema in (_read(schemas) if schemas else _made())]
    if schemas:
        timed = sorted(timed, key=lambda entry: -entry[2] / entry[1])[:10]
    table = Table("schema", "kB", "ms", "ms per 10 kB", "result")
    for name, size, seconds, result in timed:
        table.add_row(name, f"{size / 1e3:.1f}", f"{seconds * 1e3:.1f}", f"{seconds * 1e7 / size:.1f}", result)
    Console(emoji=False).print(table)


def _made() -> Iterator[tuple[str, dict[str, Any]]]:
    for fields in (25, 100, 400, 1600, 6400):
        properties = {f"field_{number}": LEAVES[number % len(LEAVES)] for number in range(fields)}
        defs = {"day": {"type": "string", "format": "date"}}
        yield f"{fields:,} fields", {"type": "object", "$defs": defs, "properties": properties}


def _read(path: Path) -> Iterator[tuple[str, Any]]:
    from deg_core.inputs import read_text

    for number, line in enumerate(read_text(path).splitlines(), 1):
        try:
            yield f"line {number}", json.loads(line)["schema"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}:{number}: expected an object with a key schema") from error


def _timed(name: str, schema: Any, repeats: int) -> tuple[str, int, float, str]:
    """The name, the size in bytes of the schema's JSON, the best process time in seconds and what came out."""
    from deg_core.contract import compile_schema

    result = ""

    def work() -> None:
        nonlocal result
        try:
            result = f"{len(compile_schema(schema).fields):,} fields"
        except SchemaError as error:
            result = f"refused: {len(error.problems):,} problem(s)"

    seconds = best_time(work, repeats)
    return name, len(json.dumps(schema)), seconds, result


def best_time(work: Callable[[], Any], repeats: int) -> float:
    """The least process time of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)
