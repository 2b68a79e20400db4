"""Numbers as people write them (contract section 3): every candidate in a text, in one pass.

digits.py says how digits with marks are read, spelled.py numbers in words. Around them:

* spaces group by threes (1 234 567); since a table has such rows too, each number stays a candidate.
* a list without spaces (1.5,2.5) or a run that is no number (a date, a version) is read in its parts.
* signs count where they cannot join two things (not in 393-397); accounting parentheses only around an
  amount with a decimal or currency mark.
* a percent sign changes nothing: 15% is 15. Scale words, suffixes and exponents multiply (2.5 million, 3k, 1e-5).
* a fraction is a number if its decimal form ends (3 1/2, 2½).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Context, Decimal
from itertools import chain
from typing import NamedTuple

import regex

from deg_core.values.candidate import Candidate
from deg_core.values.digits import MAX_LENGTH, read_digits
from deg_core.values.spelled import spelled_numbers

_EXACT = Context(prec=4 * MAX_LENGTH)
_LEADING_POINT = regex.compile(r"(?r)(?<![\w.,])\.")
_SPACES = " \u00a0\u202f"
_MAX_GROUPS = 5
_CORE = re.compile(r"[0-9]+(?:[.,'\u2019][0-9]+)*")
_GROUP = re.compile(r"[0-9]{3}(?:[.,][0-9]{1,9})?")
_PART = re.compile(r"[^,]+")
_RUN = re.compile(r"[0-9]+")
# A currency sign, or a code that is not part of a longer word.
_CURRENCY = (
    r"(?:(?<![^\W\d_])(?:(?:US|A|C|NZ|HK|S|R)\$|(?:USD|EUR|GBP|JPY|CHF|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|CNY|"
    r"BRL|MXN|ZAR|SGD|HKD|MYR|RM|Rs\.?|kr\.?|z\u0142)(?![^\W\d_]))|[$\xa2-\xa5\u20a0-\u20cf\u0e3f])"
)
# Read backwards from the first digit: sign, currency, sign, opening parenthesis.
_LEFT = regex.compile(
    rf"(?r)(?P<open>\()?(?P<outer>(?<![\w)\]%])[-+\u2212])?(?P<currency>{_CURRENCY}[ \u00a0]?)?"
    r"(?P<inner>(?<![\w)\]%])[-+\u2212])?"
)
# Read from the last digit: exponent, percent sign, scale, currency, closing parenthesis.
_RIGHT = re.compile(
    r"(?:[eE](?P<exponent>[-+]?[0-9]{1,2})(?!\w))?(?P<percent>[ ]?%)?"
    r"(?P<scale>[ \u00a0-]?(?i:hundred|thousand|million|billion|trillion|lakh|crore|mn|bn|mio|mrd)\b|[kKmMB](?!\w))?"
    rf"(?P<currency>[ \u00a0]?{_CURRENCY})?(?P<close>\))?"
)
_SCALES = {"hundred": 2, "thousand": 3, "k": 3, "lakh": 5, "million": 6, "mn": 6, "mio": 6, "m": 6}
_SCALES |= {"crore": 7, "billion": 9, "bn": 9, "mrd": 9, "b": 9, "trillion": 12}
_FRACTION = re.compile(r"(?<![\w/.,])(?:(?P<whole>[0-9]{1,6})[ -])?(?P<top>[0-9]{1,4})/(?P<bottom>[0-9]{1,4})(?![\w/])")
_VULGAR = re.compile(
    r"(?:(?<![\w.,])(?P<whole>[0-9]{1,6})[ ]?)?(?P<sign>[\xbc-\xbe\u2155\u2156\u2157\u2158\u215b-\u215e])"
)


class Reading(NamedTuple):
    """Digits of a text, half-open code points, and their value without sign and scale."""

    start: int
    end: int
    value: int | Decimal


def number_candidates(text: str) -> list[Candidate]:
    """Every reading of every number in a text, in document order; longer spans first at one start.

    A value is an int where it is whole, else the nearest float.
    """
    found: dict[tuple[int, int], Candidate] = {}
    written = chain.from_iterable(_decorated(text, reading) for reading in _readings(text))
    spelled = (Candidate(*span, value) for span, value in spelled_numbers(text))
    for candidate in chain(written, _fractions(text), spelled):
        found[candidate.start, candidate.end] = candidate
    return sorted(found.values(), key=lambda c: (c.start, -c.end))


def parse_number(text: str) -> int | float | None:
    """The number that a text is, as a whole; None when it is none."""
    text = text.strip()
    return next((c.value for c in number_candidates(text) if (c.start, c.end) == (0, len(text))), None)


def _readings(text: str) -> Iterator[Reading]:
    groups: list[tuple[int, str]] = []
    after = -1
    for match in _CORE.finditer(text):
        start, end = match.span()
        core = match[0]
        joins = start == after + 1 and text[after] in _SPACES and _GROUP.fullmatch(core)
        groups = [(first, digits + core) for first, digits in groups] if joins else []
        for first, digits in groups:
            yield Reading(first, end, Decimal(digits.replace(",", ".")))
        if not core.isdigit():
            groups = []
        elif len(core) <= 3:
            groups = [*groups[1 - _MAX_GROUPS :], (start, core)]
        after = end
        yield from _single(text, start, end)


def _single(text: str, start: int, end: int) -> Iterator[Reading]:
    """A run of digits and marks without spaces as one number, else its parts; .5 is a half."""
    core = text[start:end]
    value = read_digits(core)
    if value is not None:
        yield Reading(start, end, value)
        if core.isdigit() and _LEADING_POINT.match(text, 0, start):
            yield Reading(start - 1, end, Decimal(f"0.{core}"))
        return
    for pattern in (_PART, _RUN):
        for part in pattern.finditer(text, start, end):
            value = read_digits(part[0])
            if value is not None:
                yield Reading(part.start(), part.end(), value)


def _decorated(text: str, reading: Reading) -> Iterator[Candidate]:
    """The bare number, and the number with each sign, currency, percent and scale written at it."""
    start, end, value = reading
    left, right = _LEFT.match(text, 0, start), _RIGHT.match(text, end)
    assert left is not None and right is not None  # both match nothing at all
    yield Candidate(start, end, _json(value))
    if left.start() == start and right.end() == end:
        return
    money = bool(left["currency"] or right["currency"])
    lefts = [(start, False), *_with_signs(left)]
    rights = [(end, value), *_with_units(right, value, money)]
    for first, negative in lefts:
        for last, number in rights:
            if (first, last) != (start, end):
                yield Candidate(first, last, _json(number, negative))
    amount = (money or "." in text[start:end] or "," in text[start:end]) and not right["percent"]
    if amount and left["open"] and right["close"] and not left["outer"] and not left["inner"]:
        yield Candidate(left.start(), right.end(), _json(rights[-1][1], negative=True))


def _with_signs(left: regex.Match[str]) -> Iterator[tuple[int, bool]]:
    """Where the number begins with each thing before it, and whether it is negative then."""
    negative = False
    for part in ("inner", "currency", "outer"):
        if left[part]:
            negative = negative or left[part] in "-\u2212"
            yield left.start(part), negative


def _with_units(right: re.Match[str], value: int | Decimal, money: bool) -> Iterator[tuple[int, int | Decimal]]:
    """Where the number ends with each thing after it, and its value then; a bare m is a metre unless it is money."""
    if right["exponent"]:
        value = _scaled(value, int(right["exponent"]))
        yield right.end("exponent"), value
    if right["percent"]:
        yield right.end("percent"), value
    if right["scale"] and (right["scale"] != "m" or money):
        value = _scaled(value, _SCALES[right["scale"].lower().lstrip(" \u00a0-")])
        yield right.end("scale"), value
    if right["currency"]:
        yield right.end("currency"), value


def _scaled(value: int | Decimal, power: int) -> Decimal:
    return Decimal(value).scaleb(power, _EXACT)


def _fractions(text: str) -> Iterator[Candidate]:
    for match in _FRACTION.finditer(text):
        top, bottom = int(match["top"]), int(match["bottom"])
        if bottom and _terminates(bottom):
            yield from _mixed(match, match.start("top"), Decimal(top) / Decimal(bottom))
    for match in _VULGAR.finditer(text):
        yield from _mixed(match, match.start("sign"), Decimal(unicodedata.numeric(match["sign"])))


def _mixed(match: re.Match[str], start: int, part: Decimal) -> Iterator[Candidate]:
    """A fraction, and with the whole number written before it."""
    yield Candidate(start, match.end(), _json(part))
    if match["whole"]:
        yield Candidate(match.start(), match.end(), _json(int(match["whole"]) + part))


def _terminates(bottom: int) -> bool:
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom == 1


def _json(value: int | Decimal, negative: bool = False) -> int | float:
    """An int where it is whole, else the nearest float."""
    number: int | float = int(value) if value == int(value) else float(value)
    return -number if negative else number
