"""Dates and date-times as people write them: every candidate in a text (contract sections 3 and 9).

A numeric date such as 03/05/2026 is read by date_order; without one only if exactly one order gives a
valid date (or both give the same). Two-digit years are 1970 to 2069. A date without a year is no date.
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import date
from typing import Literal

import regex

from deg_core.values.candidate import Candidate

DateOrder = Literal["MDY", "DMY"] | None
PIVOT = 70
_NAMES = {
    1: "january jan januar janvier janv enero ene gennaio gen januari janeiro",
    2: "february feb februar février fevrier févr fevr febrero febbraio febr februari fevereiro fev",
    3: "march mar märz maerz mrz mars marzo maart mrt março marco",
    4: "april apr avril avr abril abr aprile",
    5: "may mai mayo maggio mag mei maio",
    6: "june jun juni juin junio giugno giu junho",
    7: "july jul juli juillet juil julio luglio lug julho",
    8: "august aug août aout agosto ago augustus",
    9: "september sep sept septembre septiembre settembre set setembro",
    10: "october oct oktober okt octobre octubre ottobre ott outubro out",
    11: "november nov novembre noviembre novembro",
    12: "december dec dezember dez décembre decembre déc diciembre dic dicembre desember dezembro",
}
MONTHS = {name: month for month, names in _NAMES.items() for name in names.split()}
_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + ")"
_DAY = r"(?P<day>0?[1-9]|[12][0-9]|3[01])"
_ORDINAL = r"(?:st|nd|rd|th|\.|º|er|e)?"
_YEAR = r"(?P<year>[0-9]{4}|['’]?[0-9]{2})(?![0-9])"
_GAP = r"[ \u00a0]{0,3}"
_FORMS = [
    regex.compile(
        rf"(?<![0-9])(?P<year>[0-9]{{4}}){_GAP}(?P<sep>[-/.]){_GAP}(?P<month>[01]?[0-9]){_GAP}(?P=sep){_GAP}(?P<day>[0-3]?[0-9])(?![0-9])"
    ),
    regex.compile(
        rf"(?<![0-9]|[0-9][-/.])(?P<a>[0-3]?[0-9]){_GAP}(?P<sep>[-/.]){_GAP}(?P<b>[0-3]?[0-9]){_GAP}(?P=sep){_GAP}{_YEAR}(?![-/.][0-9])"
    ),
    regex.compile(
        rf"(?<![0-9]){_DAY}{_ORDINAL}[ \u00a0]*(?:of |de |del )?[-/.,]?[ \u00a0]*(?P<name>{_MONTH})\.?[ \u00a0]*(?:de |del )?[-/.,]?[ \u00a0]*{_YEAR}",
        regex.IGNORECASE,
    ),
    regex.compile(
        rf"\b(?P<name>{_MONTH})\.?[ \u00a0]*[-/]?[ \u00a0]*(?:the )?{_DAY}(?![0-9])(?:st|nd|rd|th)?[ \u00a0]*[-/,]?[ \u00a0]*(?:of )?{_YEAR}(?!:)",
        regex.IGNORECASE,
    ),
    regex.compile(
        rf"(?<![0-9])(?P<year>[0-9]{{4}})[ \u00a0,./-]+(?P<name>{_MONTH})\.?[ \u00a0,./-]+{_DAY}(?![0-9])",
        regex.IGNORECASE,
    ),
    regex.compile(
        r"(?<![0-9])(?P<year>(?:19|20)[0-9]{2})(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12][0-9]|3[01])(?![0-9])"
    ),
]
_OFFSET = r"(?:[ ]?(?P<offset>Z|UTC|GMT|[+\u2212-](?:0[0-9]|1[0-4]):?[0-5][0-9]))?(?!\w)"
_CLOCK = (
    r"(?:(?P<hour>[01]?[0-9]|2[0-3])[:.](?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?P<fraction>[.,][0-9]{1,9})?)?"
    r"(?:[ ]?(?P<half>[ap]\.?m\.?))?|(?P<hour12>1[0-2]|0?[1-9])[ ]?(?P<half12>[ap]\.?m\.?))" + _OFFSET
)
_TIME_AFTER = regex.compile(rf"(?:[T ]|,?[ \u00a0\n]*(?:at|um|à|a las|[-–@|,])?[ \u00a0]*){_CLOCK}", regex.IGNORECASE)
_TIME_BEFORE = regex.compile(rf"(?<![0-9:]){_CLOCK}(?:,?[ \u00a0]+(?:on[ ]+)?)", regex.IGNORECASE)
_BEFORE_WIDTH = 32


def date_candidates(text: str, date_order: DateOrder = None) -> list[Candidate]:
    """Every date in a text as an ISO 8601 day, in document order; longer spans first at one start."""
    found: dict[tuple[int, int], Candidate] = {}
    for form in _FORMS:
        for match in form.finditer(text, overlapped=False):
            day = _read(match, date_order)
            if day is not None:
                found.setdefault(match.span(), Candidate(*match.span(), day.isoformat()))
    return sorted(found.values(), key=lambda c: (c.start, -c.end))


def datetime_candidates(text: str, date_order: DateOrder = None, default_offset: str | None = "Z") -> list[Candidate]:
    """Every date with a time in a text as RFC 3339; without a written offset the default one is assumed.

    With default_offset None such a date-time is no candidate.
    """
    found: dict[tuple[int, int], Candidate] = {}
    for day in date_candidates(text, date_order):
        for start, end, match in _times(text, day):
            candidate = _moment(day.value, start, end, match, default_offset)
            if candidate is not None:
                found.setdefault((start, end), candidate)
    return sorted(found.values(), key=lambda c: (c.start, -c.end))


def parse_date(text: str, date_order: DateOrder = None) -> str | None:
    """The ISO 8601 day that a text is, as a whole; None when it is none."""
    return _whole(text.strip(), date_candidates(text.strip(), date_order))


def parse_datetime(text: str, date_order: DateOrder = None, default_offset: str | None = "Z") -> str | None:
    """The RFC 3339 date-time that a text is, as a whole; None when it is none."""
    return _whole(text.strip(), datetime_candidates(text.strip(), date_order, default_offset))


def _whole(text: str, candidates: list[Candidate]) -> str | None:
    return next((c.value for c in candidates if (c.start, c.end) == (0, len(text))), None)


def _read(match: regex.Match[str], date_order: DateOrder) -> date | None:
    groups = match.groupdict()
    year = _year(groups["year"])
    if "a" in groups:
        return _numeric(int(groups["a"]), int(groups["b"]), year, date_order)
    month = MONTHS[groups["name"].lower()] if "name" in groups else int(groups["month"])
    return _day(year, month, int(groups["day"]))


def _year(text: str) -> int:
    digits = text.lstrip("'’")
    if len(digits) == 4:
        return int(digits)
    return int(digits) + (1900 if int(digits) >= PIVOT else 2000)


def _numeric(a: int, b: int, year: int, date_order: DateOrder) -> date | None:
    readings = {"DMY": _day(year, b, a), "MDY": _day(year, a, b)}
    if date_order is not None:
        return readings[date_order]
    valid = {reading for reading in readings.values() if reading is not None}
    return valid.pop() if len(valid) == 1 else None


def _day(year: int, month: int, day: int) -> date | None:
    if not (1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]):
        return None
    return date(year, month, day)


def _times(text: str, day: Candidate) -> Iterator[tuple[int, int, regex.Match[str]]]:
    after = _TIME_AFTER.match(text, day.end)
    if after is not None:
        yield day.start, after.end(), after
    low = max(0, day.start - _BEFORE_WIDTH)
    for before in _TIME_BEFORE.finditer(text, low, day.start):
        if before.end() == day.start:
            yield before.start(), day.end, before


def _moment(day: str, start: int, end: int, match: regex.Match[str], default_offset: str | None) -> Candidate | None:
    hour = int(match["hour"] or match["hour12"])
    half = (match["half"] or match["half12"] or "").lower()[:1]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    written = match["offset"]
    offset = _offset(written) if written else default_offset
    if offset is None:
        return None
    fraction = (match["fraction"] or "").replace(",", ".")
    clock = f"{hour:02}:{match['minute'] or '00'}:{match['second'] or '00'}{fraction}"
    return Candidate(start, end, f"{day}T{clock}{offset}", assumed_offset=not written)


def _offset(written: str) -> str:
    if written.upper() in ("Z", "UTC", "GMT"):
        return "Z"
    sign, digits = written[0].replace("\u2212", "-"), written[1:].replace(":", "")
    return f"{sign}{digits[:2]}:{digits[2:]}"
