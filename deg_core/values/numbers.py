"""Numbers as people write them (contract section 3): every candidate in a text, in one pass.

digits.py says how digits with marks are read, spelled.py numbers in words. Around them:

* spaces group by threes (1 234 567); since a table has such rows too, each number stays a candidate, and a row
  of more than five groups is read number by number only.
* a list without spaces (1.5,2.5) or a run that is no number (a date, a version) is read in its parts.
* signs count where they cannot join two things (not in 393-397); accounting parentheses only around an
  amount with a decimal or currency mark.
* a percent sign changes nothing: 15% is 15. Scale words, suffixes and exponents multiply (2.5 million, 3k, 1e-5).
* a fraction is the number that it writes in another notation, if its decimal form ends (3 1/2, 2½ and 3/8, not
  1/3): the value is then exact, as with a percent sign or a scale word, and not a rounding.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Context, Decimal
from math import gcd
from typing import NamedTuple

from deg_core.values.candidate import Candidate, in_order
from deg_core.values.digits import MAX_LENGTH, read_digits
from deg_core.values.spelled import spelled_numbers

_EXACT = Context(prec=4 * MAX_LENGTH)
_MAX_GROUPS = 5
_SPACE = "[ \u00a0\u202f]"
_MORE = "[.,'\u2019]?[0-9]"
# Groups of three digits with spaces between them, the last one perhaps with decimals; else digits and marks.
_GROUPS = (
    rf"[0-9]{{1,3}}(?!{_MORE})(?:{_SPACE}[0-9]{{3}}(?!{_MORE}))*+(?:{_SPACE}[0-9]{{3}}[.,][0-9]{{1,9}}(?!{_MORE}))?"
)
_MARKED = r"[0-9]+(?:[.,'\u2019][0-9]+)*"
_FRACTION = rf"(?<![\w/.,])(?:[0-9]{{1,6}}[ -])?[0-9]{{1,4}}/[0-9]{{1,4}}(?![\w/])(?!{_MORE})"
_VULGAR = r"(?:(?<![\w.,])[0-9]{1,6}[ ]?)?[\xbc-\xbe\u2155-\u2158\u215b-\u215e]"
_PIECE = re.compile(rf"{_GROUPS}|{_MARKED}")
_GROUP = re.compile(_MARKED)
_PART = re.compile(r"[^,]+")
_RUN = re.compile(r"[0-9]+")
# A currency sign, or a code that is not part of a longer word.
_CURRENCY = (
    r"(?:(?<![^\W\d_])(?:(?:US|A|C|NZ|HK|S|R)\$|(?:USD|EUR|GBP|JPY|CHF|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|CNY|"
    r"BRL|MXN|ZAR|SGD|HKD|MYR|RM|Rs\.?|kr\.?|z\u0142)(?![^\W\d_]))|[$\xa2-\xa5\u20a0-\u20cf\u0e3f])"
)
_SIGN = r"(?<![\w)\]%])[-+\u2212]"
_SCALE = r"[ \u00a0-]?(?i:hundred|thousand|million|billion|trillion|lakh|crore|mn|bn|mio|mrd)\b|[kKmMB](?!\w)"
# What is written before the digits, the digits, and what is written after them; that is looked at, not taken,
# since it may stand before the next number. Or plain digits, after which nothing can belong to them.
_NUMBER = re.compile(
    r"(?=[^\sa-jl-y])"  # what most characters are begins no number
    rf"(?:(?P<plain>[0-9]{{1,15}}(?=[\r\n]|[ ][0-9]{{1,2}}[ \r\n]))|"
    rf"(?P<open>\()?(?P<outer>{_SIGN})?(?P<before>{_CURRENCY}[ \u00a0]?)?(?P<inner>{_SIGN})?(?P<point>(?<![\w.,])\.)?"
    rf"(?P<digits>{_FRACTION}|{_VULGAR}|{_GROUPS}|{_MARKED})"
    rf"(?=(?:[eE](?P<exponent>[-+]?[0-9]{{1,2}})(?!\w))?(?P<percent>[ ]?%)?(?P<scale>{_SCALE})?"
    rf"(?P<after>[ \u00a0]?{_CURRENCY}(?!\.?[0-9]))?(?P<close>\))?))"
)
_PLAIN, _BARE = (_NUMBER.groupindex[name] for name in ("plain", "digits"))
_SCALES = {"hundred": 2, "thousand": 3, "k": 3, "lakh": 5, "million": 6, "mn": 6, "mio": 6, "m": 6}
_SCALES |= {"crore": 7, "billion": 9, "bn": 9, "mrd": 9, "b": 9, "trillion": 12}


class Reading(NamedTuple):
    """Digits of a text, half-open code points, and their value without sign and scale."""

    start: int
    end: int
    value: int | Decimal


def number_candidates(text: str) -> list[Candidate]:
    """Every reading of every number in a text, in document order; longer spans first at one start.

    A value is an int where it is whole, else the nearest float.
    """
    found = [Candidate(*span, value) for span, value in spelled_numbers(text)]
    for match in _NUMBER.finditer(text):
        if match.lastindex == _PLAIN:
            found.append(Candidate(*match.span(), int(match[0])))
            continue
        digits, start = match["digits"], match.start("digits")
        bare = match.start() == start and match.lastindex == _BARE
        if bare and digits.isdigit() and len(digits) <= MAX_LENGTH:  # most numbers of most texts
            found.append(Candidate(start, match.end(), int(digits)))
            continue
        readings = _readings(match)
        found += [Candidate(first, last, _json(value)) for first, last, value in readings]
        if not bare:
            for reading in readings:
                found += _decorated(match, reading)
    return in_order(found)


def parse_number(text: str) -> int | float | None:
    """The number that a text is, as a whole; None when it is none."""
    text = text.strip()
    return next((c.value for c in number_candidates(text) if (c.start, c.end) == (0, len(text))), None)


def _readings(match: re.Match[str]) -> list[Reading]:
    """The numbers that the digits of a match are; .5 is a half."""
    text, digits, (start, end) = match.string, match["digits"], match.span("digits")
    if digits.isdigit():
        found = [Reading(start, end, int(digits))] if len(digits) <= MAX_LENGTH else []
    else:
        found = list(_fractions(digits, start))
        for piece in _PIECE.finditer(text, start, end):
            groups = list(_GROUP.finditer(text, *piece.span()))
            found += _joined(groups) if len(groups) > 1 else _parts(text, *piece.span())
    first = _GROUP.match(text, start, end) if match["point"] else None
    if first and first[0].isdigit() and len(first[0]) <= MAX_LENGTH:
        found.append(Reading(match.start("point"), first.end(), Decimal(f"0.{first[0]}")))
    return found


def _fractions(digits: str, start: int) -> Iterator[Reading]:
    """A fraction whose decimal form ends, alone and with the whole number written before it."""
    if "/" in digits:
        whole, _, ratio = digits.replace("-", " ").rpartition(" ")
        top, bottom = map(int, ratio.split("/"))
        if not bottom or not _terminates(bottom // gcd(top, bottom)):
            return
        part = Decimal(top) / Decimal(bottom)
    elif digits[-1].isascii():
        return
    else:
        whole, ratio = digits[:-1].rstrip(), digits[-1]
        part = Decimal(str(unicodedata.numeric(ratio)))
    end = start + len(digits)
    yield Reading(end - len(ratio), end, part)
    if whole:
        yield Reading(start, end, int(whole) + part)


def _joined(groups: list[re.Match[str]]) -> list[Reading]:
    """Groups with spaces between them: each one, and those beside each other as one number."""
    found = [Reading(*group.span(), _whole_or_decimal(group[0])) for group in groups]
    if len(groups) <= _MAX_GROUPS:
        for place, first in enumerate(groups):
            digits = first[0]
            for last in groups[place + 1 :]:
                digits += last[0]
                found.append(Reading(first.start(), last.end(), _whole_or_decimal(digits)))
    return found


def _whole_or_decimal(digits: str) -> int | Decimal:
    return int(digits) if digits.isdigit() else Decimal(digits.replace(",", "."))


def _parts(text: str, start: int, end: int) -> list[Reading]:
    """A run of digits and marks without spaces as one number, else its parts."""
    value = read_digits(text[start:end])
    if value is not None:
        return [Reading(start, end, value)]
    spans = {part.span() for pattern in (_PART, _RUN) for part in pattern.finditer(text, start, end)}
    return [Reading(*span, value) for span in spans if (value := read_digits(text[slice(*span)])) is not None]


def _decorated(match: re.Match[str], reading: Reading) -> Iterator[Candidate]:
    """A number with each sign, currency, percent and scale that is written at it."""
    start, end, value = reading
    first = start == match.start("point" if match["point"] else "digits")
    last = end == match.end()
    money = bool(match["before"] or match["after"])
    lefts = [(start, False), *(_with_signs(match) if first else ())]
    rights = [(end, value), *(_with_units(match, value, money) if last else ())]
    for left, negative in lefts:
        for right, number in rights:
            if (left, right) != (start, end):
                yield Candidate(left, right, _json(number, negative))
    digits = match.string[start:end]
    amount = (money or "." in digits or "," in digits) and not match["percent"]
    if amount and first and last and match["open"] and match["close"] and not match["outer"] and not match["inner"]:
        yield Candidate(match.start(), match.end("close"), _json(rights[-1][1], negative=True))


def _with_signs(match: re.Match[str]) -> Iterator[tuple[int, bool]]:
    """Where the number begins with each thing before it, and whether it is negative then."""
    negative = False
    for part in ("inner", "before", "outer"):
        if match[part]:
            negative = negative or match[part] in "-\u2212"
            yield match.start(part), negative


def _with_units(match: re.Match[str], value: int | Decimal, money: bool) -> Iterator[tuple[int, int | Decimal]]:
    """Where the number ends with each thing after it, and its value then; a bare m is a metre unless it is money."""
    if match["exponent"]:
        value = _scaled(value, int(match["exponent"]))
        yield match.end("exponent"), value
    if match["percent"]:
        yield match.end("percent"), value
    if match["scale"] and (match["scale"] != "m" or money):
        value = _scaled(value, _SCALES[match["scale"].lower().lstrip(" \u00a0-")])
        yield match.end("scale"), value
    if match["after"]:
        yield match.end("after"), value


def _scaled(value: int | Decimal, power: int) -> Decimal:
    return Decimal(value).scaleb(power, _EXACT)


def _terminates(bottom: int) -> bool:
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom == 1


def _json(value: int | Decimal, negative: bool = False) -> int | float:
    """An int where it is whole, else the nearest float."""
    number: int | float = int(value) if value == int(value) else float(value)
    return -number if negative else number
