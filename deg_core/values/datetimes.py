"""Date-times: a date with a clock time beside it, as RFC 3339 (contract sections 3 and 9).

The time stands after the date ("2026-03-05T10:00Z", "May 3, 2026 at 3 pm") or before it ("10:00 on May 3,
2026"). Written offsets are +hh:mm and its short forms, Z, UTC and GMT, and the zones of RFC 2822 and of
Europe that name one offset. A minus right after hours and minutes, as in "10:00-11:00", begins a range and
is an offset only where a T stands before the time. A time with a point (10.30) needs am, pm or Uhr after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from deg_core.contract.formats import is_valid
from deg_core.values.candidate import Candidate, collector_paused, in_order
from deg_core.values.dates import DateOrder, date_candidates

_ZONES = {
    **{"Z": "Z", "UTC": "Z", "GMT": "Z", "WET": "Z", "WEST": "+01:00"},
    **{"CET": "+01:00", "CEST": "+02:00", "EET": "+02:00", "EEST": "+03:00"},
    **{"EDT": "-04:00", "EST": "-05:00", "CDT": "-05:00", "CST": "-06:00"},
    **{"MDT": "-06:00", "MST": "-07:00", "PDT": "-07:00", "PST": "-08:00"},
}
MINUS = "\u2212"
_GAP = "[ \u00a0]"
_HOUR = "(?P<hour>[01]?[0-9]|2[0-3])"
_MINUTE = "(?P<minute>[0-5][0-9])"
_SECOND = "(?P<second>[0-5][0-9]|60)"
_HALF = r"(?P<half>[ap])(?:m(?!\w)|\.m\.)"
_ZONE = rf"{_GAP}?(?P<zone>{'|'.join(_ZONES)})(?!\w)"
_SIGNED = r"(?P<sign>[-+\u2212])(?P<hours>[01][0-9])(?::?(?P<minutes>[0-5][0-9]))?(?![\w:])"
_SHORT = r"(?P<sign>[-+\u2212])(?P<hours>1[0-4]|0?[0-9])(?::?(?P<minutes>[0-5][0-9]))?(?![\w:])"
_NAMED_OFFSET = rf"{_GAP}?(?:UTC|GMT){_SHORT}|{_ZONE}"
_OFFSET_AFTER_T = rf"(?:{_NAMED_OFFSET}|{_GAP}?{_SIGNED})?"
_OFFSET = (
    rf"(?:{_NAMED_OFFSET}|{_GAP}?(?=[+]){_SIGNED}|(?<=:[0-9]{{2}}:[0-9]{{2}}(?:[.,][0-9]{{1,9}})?){_GAP}?{_SIGNED})?"
)
# 10:30, 10:30:15.25, 10:30 pm; 10 pm, 10.30 pm, 10.30 Uhr; 14h30; after a T also 1030 and 103015.
_COLON = rf"{_HOUR}:{_MINUTE}(?::{_SECOND}(?P<fraction>[.,][0-9]{{1,9}})?)?(?!:?[0-9]|[.][0-9])(?:{_GAP}?{_HALF})?"
_HALF_DAY = rf"{_HOUR}(?:[.]{_MINUTE})?{_GAP}?(?:{_HALF}|Uhr(?!\w))"
_LETTER = rf"{_HOUR}h{_MINUTE}?(?!\w)"
_CLOCK = rf"(?:{_COLON}|{_HALF_DAY}|{_LETTER})"
_BASIC = rf"(?P<hour>[0-9]{{2}}){_MINUTE}{_SECOND}?(?![0-9])"
_LINK = rf"(?:,?[ \u00a0\n]{{0,3}}(?:(?:at|um|à|a las|alle|om|time:?){_GAP}|[-–@|,])?{_GAP}{{0,3}})"
_WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_AFTER = regex.compile(
    rf"(?:(?P<iso>T)(?:{_COLON}|{_BASIC}){_OFFSET_AFTER_T}|{_LINK}(?<![0-9]){_CLOCK}{_OFFSET})", regex.IGNORECASE
)
_BEFORE = regex.compile(
    rf"(?<![\w:.]){_CLOCK}{_OFFSET}(?:,?{_GAP}{{1,3}}(?:(?:on|am|le|el){_GAP})?(?:{_WEEKDAY},?{_GAP})?)",
    regex.IGNORECASE,
)
_BEFORE_WIDTH = 48
# What every time has right after a digit, but the basic form after a T; most days have none beside them, and this
# is found faster than that no time is. A time after a day has it within a link and five characters.
_SIGN_OF_TIME = re.compile(r"[0-9](?:[:hH]|[ \u00a0]?(?:[aApP][mM.]|[uU][hH]))")
_AFTER_WIDTH = 24


@collector_paused()
def datetime_candidates(text: str, date_order: DateOrder = None, default_offset: str | None = "Z") -> list[Candidate]:
    """Every date with a time in a text as RFC 3339, in document order; longer spans first at one start.

    Without a written offset the default one is assumed; with default_offset None it is no candidate.
    """
    found: dict[tuple[int, int], Candidate] = {}
    free = 0
    for day in date_candidates(text, date_order):
        for start, end, clock in _times(text, day, free):
            free = max(free, end)
            candidate = _moment(day.value, start, end, clock, default_offset)
            if candidate is not None:
                found.setdefault((start, end), candidate)
    return in_order(found.values())


def parse_datetime(text: str, date_order: DateOrder = None, default_offset: str | None = "Z") -> str | None:
    """The RFC 3339 date-time that a text is, as a whole; None when it is none."""
    text = text.strip()
    found = datetime_candidates(text, date_order, default_offset)
    return next((c.value for c in found if (c.start, c.end) == (0, len(text))), None)


def _times(text: str, day: Candidate, free: int) -> Iterator[tuple[int, int, regex.Match[str]]]:
    """The times after and before a day; a time before it must lie after free, where the last date-time ends."""
    if text[day.end : day.end + 1] in "tT" or _SIGN_OF_TIME.search(text, day.end, day.end + _AFTER_WIDTH):
        after = _AFTER.match(text, day.end)
        if after is not None:
            yield day.start, after.end(), after
    low = max(free, day.start - _BEFORE_WIDTH)
    if _SIGN_OF_TIME.search(text, low, day.start):
        for before in _BEFORE.finditer(text, low, day.start):
            if before.end() == day.start:
                yield before.start(), day.end, before


def _moment(day: str, start: int, end: int, clock: regex.Match[str], default_offset: str | None) -> Candidate | None:
    hour = int(clock["hour"])
    if clock["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if clock["half"] in "pP" else 0)
    written = _offset(clock)
    offset = written or default_offset
    if offset is None:
        return None
    fraction = (clock["fraction"] or "").replace(",", ".")
    value = f"{day}T{hour:02}:{clock['minute'] or '00'}:{clock['second'] or '00'}{fraction}{offset}"
    return Candidate(start, end, value, assumed_offset=not written) if is_valid("date-time", value) else None


def _offset(clock: regex.Match[str]) -> str | None:
    """The written offset as RFC 3339, None when there is none."""
    if clock["zone"]:
        return _ZONES[clock["zone"].upper()]
    if clock["sign"]:
        return f"{clock['sign'].replace(MINUS, '-')}{int(clock['hours']):02}:{clock['minutes'] or '00'}"
    return None
