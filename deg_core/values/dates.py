"""Dates as people write them: every candidate in a text (contract sections 3 and 9).

Read are ISO dates and their variants (2026-03-05, 2026/3/5, 20260305, 2026年3月5日), days with a month by name
in 24 languages (3rd of May 2026, May 3, 2026, 3 de mayo de 2026, 3. května 2026) and numeric dates with the
year last.
A numeric date such as 03/05/2026 is read by date_order; without one only if exactly one order gives a valid
date (or both give the same). Two-digit years are 1970 to 2069. A date without a year is no date.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from datetime import date
from importlib import import_module
from typing import Literal

from deg_core.values.candidate import Candidate, collector_paused, in_order

DateOrder = Literal["MDY", "DMY"] | None
PIVOT = 70

# No name of a month has two meanings in these languages. Croatian is left out: its listopad is October, and
# November in Polish and Czech.
LANGUAGES = (
    *("bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "hu"),
    *("it", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "tr", "uk"),
)
_MONTH_KEYS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)


def _month_names() -> dict[str, int]:
    """The months of LANGUAGES by their names in lower case: full and short, in every case, without accents too."""
    names = {"jän": 1, "maerz": 3}  # Austrian, and without an umlaut
    for language in LANGUAGES:
        words = import_module(f"dateparser.data.date_translation_data.{language}").info
        for month, key in enumerate(_MONTH_KEYS, start=1):
            for name in words[key]:
                written = name.lower().rstrip(".")
                names |= {written: month, _unaccented(written): month}
    return names


def _unaccented(name: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))


MONTHS = _month_names()

# Gaps between the parts are short, so that the work grows with the text alone.
_SPACE = "[ \u00a0]"
_GAP = rf"{_SPACE}{{0,3}}"
_DAY = r"(?P<day>0?[1-9]|[12][0-9]|3[01])"
_ORDINAL = r"(?:st|nd|rd|th|º|er|\.|e(?![^\W\d_]))"
_YEAR = r"(?P<year>[0-9]{4}|['\u2019][0-9]{2}|[0-9]{2}(?!:?[0-9]))(?![0-9])"
_WORD = re.compile(r"[^\W\d_]{3,}")
# The day before a month's name, up to the name: "3rd of ", "3. ", "3-".
_DAY_BEFORE = re.compile(
    rf"(?<![0-9]){_DAY}{_ORDINAL}?(?:{_GAP}[-/.,]?{_GAP}|{_SPACE}(?:day of|of|de|di|del){_SPACE}|{_SPACE}d['\u2019])\Z",
    re.I,
)
_BEFORE_WIDTH = 16
# The year after it: ". 2026", " de 2026", "-26", ", '26".
_YEAR_AFTER = re.compile(rf"\.?(?:{_GAP}[-/,]?{_GAP}|{_SPACE}(?:of|de|del){_SPACE}){_YEAR}", re.I)
# Day and year after it: " 3rd, 2026". Two digits are a year only after a comma or an apostrophe.
_DAY_YEAR_AFTER = re.compile(
    rf"\.?{_GAP}[-/]?{_GAP}(?:the{_SPACE})?{_DAY}(?![0-9])(?:st|nd|rd|th)?"
    rf"(?:{_GAP},{_GAP}(?=['\u2019]?[0-9]{{2}})|{_GAP}[-/]?{_GAP}(?=[0-9]{{4}}|['\u2019])){_YEAR}",
    re.I,
)
_YEAR_BEFORE = re.compile(r"(?<![0-9])(?P<year>[0-9]{4})[ \u00a0,./-]{1,3}\Z")
_DAY_AFTER = re.compile(rf"\.?[ \u00a0,./-]{{1,3}}{_DAY}(?![0-9])")
# Three groups of digits with the same mark between them, perhaps with spaces around it.
_NUMERIC = re.compile(
    rf"(?<![0-9])(?<![0-9][-/.])(?P<a>[0-9]{{1,4}}){_GAP}(?P<mark>[-/.]){_GAP}(?P<b>[0-9]{{1,2}})"
    rf"{_GAP}(?P=mark){_GAP}(?P<c>['\u2019]?[0-9]{{1,4}})(?![0-9])(?!(?P=mark)[0-9])"
)
_COMPACT = re.compile(r"(?<![0-9])(?P<year>(?:19|20)[0-9]{2})(?P<month>[0-9]{2})(?P<day>[0-9]{2})(?![0-9])")
_EAST_ASIAN = re.compile(
    rf"(?<![0-9])(?P<year>[0-9]{{4}}){_GAP}年{_GAP}(?P<month>[0-9]{{1,2}}){_GAP}月{_GAP}(?P<day>[0-9]{{1,2}}){_GAP}日"
)


@collector_paused()
def date_candidates(text: str, date_order: DateOrder = None) -> list[Candidate]:
    """Every date in a text as an ISO 8601 day, in document order; longer spans first at one start."""
    found: dict[tuple[int, int], str] = {}
    for readings in (_numeric(text, date_order), _plain(text), _named(text)):
        for span, day in readings:
            if day is not None:
                found.setdefault(span, day.isoformat())
    return in_order(Candidate(*span, value) for span, value in found.items())


def parse_date(text: str, date_order: DateOrder = None) -> str | None:
    """The ISO 8601 day that a text is, as a whole; None when it is none."""
    text = text.strip()
    whole = (c.value for c in date_candidates(text, date_order) if (c.start, c.end) == (0, len(text)))
    return next(whole, None)


def _numeric(text: str, date_order: DateOrder) -> Iterator[tuple[tuple[int, int], date | None]]:
    for match in _NUMERIC.finditer(text):
        first, middle, last = match["a"], int(match["b"]), match["c"]
        if len(first) == 4 and len(last) <= 2 and last.isdigit():
            yield match.span(), _day(int(first), middle, int(last))
        elif len(first) <= 2 and len(last.lstrip("'\u2019")) in (2, 4):
            yield match.span(), _ordered(int(first), middle, _year(last), date_order)


def _plain(text: str) -> Iterator[tuple[tuple[int, int], date | None]]:
    for form in (_COMPACT, _EAST_ASIAN):
        for match in form.finditer(text):
            yield match.span(), _day(int(match["year"]), int(match["month"]), int(match["day"]))


def _named(text: str) -> Iterator[tuple[tuple[int, int], date | None]]:
    """Dates around each month's name: day before and year after, both after, year before and day after."""
    for word in _WORD.finditer(text):
        month = MONTHS.get(word[0].lower())
        if month is None:
            continue
        low, start, end = max(0, word.start() - _BEFORE_WIDTH), word.start(), word.end()
        year = _YEAR_AFTER.match(text, end)
        day = _DAY_BEFORE.search(text, low, start) if year else None
        if year and day:
            yield (day.start(), year.end()), _day(_year(year["year"]), month, int(day["day"]))
        both = _DAY_YEAR_AFTER.match(text, end)
        if both:
            yield (start, both.end()), _day(_year(both["year"]), month, int(both["day"]))
        day = _DAY_AFTER.match(text, end)
        year = _YEAR_BEFORE.search(text, low, start) if day else None
        if year and day:
            yield (year.start(), day.end()), _day(int(year["year"]), month, int(day["day"]))


def _year(text: str) -> int:
    digits = text.lstrip("'\u2019")
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (1900 if int(digits) >= PIVOT else 2000)


def _ordered(a: int, b: int, year: int, date_order: DateOrder) -> date | None:
    readings = {"DMY": _day(year, b, a), "MDY": _day(year, a, b)}
    if date_order is not None:
        return readings[date_order]
    valid = {reading for reading in readings.values() if reading is not None}
    return valid.pop() if len(valid) == 1 else None


def _day(year: int, month: int, day: int) -> date | None:
    """The day, None where the calendar has none."""
    try:
        return date(year, month, day)
    except ValueError:
        return None
