"""`deg bench values`: how long the grammars of contract section 3 take, and how that grows with the text."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

SIZES = (1, 2, 4)
REPEATS = 3
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


def register(group: typer.Typer) -> None:
    """Add the command to the group `bench`."""
    group.command("values")(values)


def values(
    kilobytes: Annotated[int, typer.Option(min=4, help="Characters of the longest text, in thousands.")] = 1000,
) -> None:
    """Parse time of every grammar on ordinary and hostile texts of a quarter, half and all of a length.

    Shown are process seconds at full length (the least of three), and growth: seconds a character at full length
    over those at a quarter. A growth near 1 is linear.
    """
    table = Table("text", "grammar", "values", "seconds", "seconds / MB", "growth")
    for title, piece in TEXTS.items():
        for name, read in _grammars().items():
            found, quarter, _, full = _measure(read, piece, kilobytes * 1000)
            growth = full / (SIZES[-1] * quarter) if quarter else 1.0
            per_mb = full * 1000 / kilobytes
            table.add_row(title, name, str(found), f"{full:.3f}", f"{per_mb:.2f}", f"{growth:.2f}")
    Console(emoji=False).print(table)


def _grammars() -> dict[str, Callable[[str], list[Any]]]:
    """Every grammar by the name of what it finds."""
    from deg_core.values import date_candidates, datetime_candidates, format_candidates, number_candidates

    formats = {name: lambda text, name=name: format_candidates(text, name) for name in ("email", "uri", "uuid")}
    return {"number": number_candidates, "date": date_candidates, "date-time": datetime_candidates, **formats}


def _measure(read: Callable[[str], list[Any]], piece: str, characters: int) -> tuple[int, float, float, float]:
    """How many values the full text has, and the process seconds at each of SIZES."""
    found, seconds = 0, []
    for size in SIZES:
        text = piece * (characters * size // SIZES[-1] // len(piece))
        taken = []
        for _ in range(REPEATS):
            begin = time.process_time()
            found = len(read(text))
            taken.append(time.process_time() - begin)
        seconds.append(min(taken))
    return found, seconds[0], seconds[1], seconds[2]
