"""`deg bench contract`: how long schemas take to compile and texts to be searched for values, and how that grows."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from deg_core.contract.errors import InputError, SchemaError

REPEATS = 3
FIELDS = (20, 100, 400, 1600, 6400)
LEAVES = (
    {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$", "description": "the number of the order"},
    {"type": ["number", "null"], "minimum": 0},
    {"enum": ["open", "paid", "refused"]},
    {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    {"$ref": "#/$defs/day", "title": "due"},
)


# A text is one of these, repeated. The first is ordinary prose; the others hold as many values as they can.
TEXTS = {
    "prose": "On 3 May 2026 the company paid $1,250.00 for 40 units; its office answered at info@example.org. "
    "Nothing else was said about the price, which had been three per cent lower for most of the year. ",
    "rows of digits": "123 ",
    "lone digits": "1 ",
    "one run of digits": "7",
    "prices": "$5 ",
    "accounts": "(1.5) ",
    "dates": "May 1, 2026 ",
    "date-times": "2026-03-05 10:00 ",
    "words": "twenty-",
    "addresses": "a@b.org ",
    "links": "http://a.b/ ",
}


def contract(
    schemas: Annotated[
        Path | None, typer.Option(help="Time the schemas of this file alone: JSON Lines, each with a key schema.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Of each schema the best of this many is taken.")] = 5,
    kilobytes: Annotated[int, typer.Option(min=4, help="Characters of the longest text, in thousands.")] = 1000,
) -> None:
    """Time the compiler over schemas of growing size, and every grammar over ordinary and hostile texts.

    Shown is process time. Growth: seconds a character at full length over those at a quarter; near 1 is linear. The last
    line is one JSON object of figures, of which parse_s_1mb is the slowest grammar on prose.
    """
    if schemas is not None:
        timed = [_compiled(name, schema, repeats) for name, schema in _read(schemas)]
        _print_schemas(sorted(timed, key=lambda entry: -entry[2] / entry[1])[:10])
        return
    made = [_compiled(name, schema, repeats) for name, schema in _made()]
    _print_schemas(made)
    slowest = _print_values(kilobytes * 1000)
    figures = {
        "compile_ms_20_fields": 1000 * made[0][2],
        "parse_s_1mb": slowest["prose"],
        "parse_s_1mb_hostile": max(slowest.values()),
    }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


def _print_schemas(timed: list[tuple[str, int, float, str]]) -> None:
    table = Table("schema", "kB", "ms", "ms per 10 kB", "result")
    for name, size, seconds, result in timed:
        table.add_row(name, f"{size / 1e3:.1f}", f"{seconds * 1e3:.1f}", f"{seconds * 1e7 / size:.1f}", result)
    Console(emoji=False).print(table)


def _print_values(characters: int) -> dict[str, float]:
    """By text, the seconds a megabyte of the slowest grammar."""
    table = Table("text", "grammar", "values", "seconds", "seconds / MB", "growth")
    slowest: dict[str, float] = {}
    for title, piece in TEXTS.items():
        for name, read in _grammars().items():
            found, quarter, full = _measure(read, piece, characters)
            growth = full / (4 * quarter) if quarter else 1.0
            per_mb = full * 1e6 / characters
            slowest[title] = max(slowest.get(title, 0.0), per_mb)
            table.add_row(title, name, str(found), f"{full:.3f}", f"{per_mb:.2f}", f"{growth:.2f}")
    Console(emoji=False).print(table)
    return slowest


def _made() -> Iterator[tuple[str, dict[str, Any]]]:
    for fields in FIELDS:
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


def _compiled(name: str, schema: Any, repeats: int) -> tuple[str, int, float, str]:
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


def _grammars() -> dict[str, Callable[[str], list[Any]]]:
    """Every grammar by the name of what it finds."""
    from deg_core.values import date_candidates, datetime_candidates, format_candidates, number_candidates

    formats = {name: lambda text, name=name: format_candidates(text, name) for name in ("email", "uri", "uuid")}
    return {"number": number_candidates, "date": date_candidates, "date-time": datetime_candidates, **formats}


def _measure(read: Callable[[str], list[Any]], piece: str, characters: int) -> tuple[int, float, float]:
    """How many values the full text has, and the process seconds of a quarter and of all of it."""
    quarter, full = (piece * (length // len(piece)) for length in (characters // 4, characters))
    return len(read(full)), best_time(lambda: read(quarter), REPEATS), best_time(lambda: read(full), REPEATS)


def best_time(work: Callable[[], Any], repeats: int) -> float:
    """The least process time of some runs, in seconds."""
    times = []
    for _ in range(repeats):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)
