"""The work grows with the text, whatever stands in it: calls are counted, and patterns are looked at. No clock."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import pytest
import regex

from deg_core.values import (
    borders,
    date_candidates,
    dates,
    datetime_candidates,
    datetimes,
    digits,
    format_candidates,
    formats,
    number_candidates,
    numbers,
    spelled,
    trim_span,
)
from tests.values.backtracking import unsafe_repeats

MODULES = (borders, dates, datetimes, digits, formats, numbers, spelled)
HOSTILE = [
    "7",
    "1 ",
    "123 ",
    "1,",
    "1.",
    "1/",
    "1'",
    "(1)",
    "-1",
    "12:",
    "$",
    "(",
    ".",
    " ",
    "\n",
    "a",
    "a.",
    "a@",
    "@",
]
HOSTILE += [
    "may ",
    "1 may ",
    "May 1, ",
    "2026-03-05 10:00 ",
    "twenty-",
    "one thousand ",
    "hundred and ",
    "http://%",
    "a:",
]
HOSTILE += ["http://a.b/)", "1" + " " * 100, "may" + " " * 100, "2026-03-05" + "\n" * 100]
READERS: dict[str, Callable[[str], Any]] = {
    "number": number_candidates,
    "date": date_candidates,
    "date-time": datetime_candidates,
    **{name: lambda text, name=name: format_candidates(text, name) for name in ("email", "uri", "uuid")},
    "trim": lambda text: trim_span(text, 0, len(text)),
}


def calls(reader: Callable[[str], Any], text: str) -> int:
    """How many Python and C functions a reader calls on a text."""
    count = 0

    def note(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        reader(text)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", READERS)
def test_calls_grow_with_the_text(name):
    for piece in HOSTILE:
        once = calls(READERS[name], piece * (1000 // len(piece)))
        four = calls(READERS[name], piece * (4000 // len(piece)))
        assert four <= 4.2 * once + 100, f"{name} on {piece!r}: {once} calls, then {four}"


PATTERNS = [
    pytest.param(value, id=f"{module.__name__.rpartition('.')[2]}.{name}")
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, re.Pattern | regex.Pattern)
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_cannot_backtrack_far(pattern):
    if isinstance(pattern, regex.Pattern):
        assert not re.search(r"(?<!\\)[*+](?![^\[\]]*\])|\{[0-9]+,\}", pattern.pattern), "an unbounded repeat"
    else:
        assert unsafe_repeats(pattern.pattern, pattern.flags) == []


@pytest.mark.parametrize("pattern", ["a*a", " *x? *y", "(?:a+)*", "(?:a+,?)*", r"\d+[0-9]", "(?:ab*|c)+b", "[^x]*y"])
def test_the_check_of_patterns_finds_what_backtracks(pattern):
    assert unsafe_repeats(pattern)


@pytest.mark.parametrize("pattern", ["a*b", "a++a", "a{0,3}a", "(?:[0-9]+,)*", "[0-9]+(?:[.,][0-9]+)*", "x+"])
def test_the_check_of_patterns_allows_what_does_not(pattern):
    assert unsafe_repeats(pattern) == []
