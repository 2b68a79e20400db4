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

from deg_core.values.candidate import Candidate, collector_paused, in_order
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
_HALVES = r"\xbc-\xbe\u2155-\u2158\u215b-\u215e"
_VULGAR = rf"(?:(?<![\w.,])[0-9]{{1,6}}[ ]?)?[{_HALVES}]"
_RATIO = rf"(?=[0-9 -]{{0,12}}+[/{_HALVES}])(?:{_FRACTION}|{_VULGAR})"
_PIECE = re.compile(rf"{_GROUPS}|{_MARKED}")
_GROUP = re.compile(_MARKED)
_PART = re.compile(r"[^,]+")
_RUN = re.compile(r"[0-9]+")
# A currency sign, or a code that is not part of a longer word.
_CURRENCY = (
    r"(?:[$\xa2-\xa5\u20a0-\u20cf\u0e3f]|(?=[A-Zkz])(?<![^\W\d_])(?:(?:US|A|C|NZ|HK|S|R)\$|(?:USD|EUR|GBP|JPY|CHF|SEK|"
    r"NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|CNY|BRL|MXN|ZAR|SGD|HKD|MYR|RM|Rs\.?|kr\.?|z\u0142)(?![^\W\d_])))"
)
_SIGN = r"(?<![\w)\]%])[-+\u2212]"
_SCALE = (
    r"(?:(?=[ \u00a0-]?[bchlmtBCHLMT])[ \u00a0-]?(?i:hundred|thousand|million|billion|trillion|lakh|crore|mn|bn|mio|mrd)\b|"
    r"[kKmMB](?!\w))"
)
# What is written before the digits, the digits, and what is written after them; that is looked at, not taken,
# since it may stand before the next number. Or plain digits, after which nothing can belong to them.
_NUMBER = re.compile(
    r"(?=[^\sa-jl-y])"  # what most characters are begins no number
    rf"(?:(?P<plain>[0-9]{{1,15}}(?=[\r\n]|[ ][0-9]{{1,2}}[ \r\n]))|"
    rf"(?P<open>\()?(?P<outer>{_SIGN})?(?P<before>{_CURRENCY}[ \u00a0]?)?(?P<inner>{_SIGN})?(?P<point>(?<![\w.,])\.)?"
    rf"(?P<digits>{_RATIO}|{_GROUPS}|{_MARKED})"
    rf"(?=(?:[eE](?P<exponent>[-+]?[0-9]{{1,2}})(?!\w))?(?P<percent>[ ]?%)?(?P<scale>{_SCALE})?"
    rf"(?P<after>[ \u00a0]?{_CURRENCY}(?!\.?[0-9]))?(?P<close>\))?))"
)
_SCALES = {"hundred": 2, "thousand": 3, "k": 3, "lakh": 5, "million": 6, "mn": 6, "mio": 6, "m": 6}
_SCALES |= {"crore": 7, "billion": 9, "bn": 9, "mrd": 9, "b": 9, "trillion": 12}
_PLAIN, _DIGITS = (_NUMBER.groupindex[name] for name in ("plain", "digits"))
Reading = tuple[int, int, int | Decimal]
"""Start and end in code points of a text, half-open, and what they read as."""


@collector_paused()
def number_candidates(text: str) -> list[Candidate]:
    """Every reading of every number in a text, in document order; longer spans first at one start.

    A value is an int where it is whole, else the nearest float.
    """
    words = [Candidate(*span, value) for span, value in spelled_numbers(text)]
    found: list[Candidate] = []
    known: dict[tuple[str | None, ...], list[tuple[int, int, int | float]]] = {}  # written alike is read alike
    for match in _NUMBER.finditer(text):
        place = match.start()
        if match.lastindex in (_PLAIN, _DIGITS) and (digits := match[0]).isdigit() and len(digits) <= MAX_LENGTH:
            found.append(Candidate(place, place + len(digits), int(digits)))
            continue
        written = match.groups()
        values = known.get(written)
        if values is None:
            values = known[written] = _values(match)
        for start, end, value in values:
            found.append(Candidate(place + start, place + end, value))
    return in_order([*words, *found]) if words else found


def parse_number(text: str) -> int | float | None:
    """The number that a text is, as a whole; None when it is none."""
    text = text.strip()
    return next((c.value for c in number_candidates(text) if (c.start, c.end) == (0, len(text))), None)


def _values(match: re.Match[str]) -> list[tuple[int, int, int | float]]:
    """Every value that a match holds, in the order of candidates, with spans from the match's start on."""
    place, plain = match.start(), _readings(match)
    readings = sorted([*plain, *_decorated(match, plain)], key=lambda reading: (reading[0], -reading[1]))
    return [(start - place, end - place, _json(value)) for start, end, value in readings]


def _readings(match: re.Match[str]) -> list[Reading]:
    """The numbers that the digits of a match are; .5 is a half."""
    text, digits, (start, end) = match.string, match["digits"], match.span("digits")
    if _GROUP.fullmatch(digits):
        found = _parts(text, start, end)
    else:
        found = list(_fractions(digits, start))
        for piece in _PIECE.finditer(text, start, end):
            groups = list(_GROUP.finditer(text, *piece.span()))
            found += _joined(groups) if len(groups) > 1 else _parts(text, *piece.span())
    first = _GROUP.match(text, start, end) if match["point"] else None
    if first and first[0].isdigit() and len(first[0]) <= MAX_LENGTH:
        found.append((match.start("point"), first.end(), Decimal(f"0.{first[0]}")))
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
    yield end - len(ratio), end, part
    if whole:
        yield start, end, int(whole) + part


def _joined(groups: list[re.Match[str]]) -> list[Reading]:
    """Groups with spaces between them: each one, and those beside each other as one number."""
    found = [(*group.span(), _whole_or_decimal(group[0])) for group in groups]
    if len(groups) <= _MAX_GROUPS:
        for place, first in enumerate(groups):
            digits, start = first[0], first.start()
            for last in groups[place + 1 :]:
                digits += last[0]
                found.append((start, last.end(), _whole_or_decimal(digits)))
    return found


def _whole_or_decimal(digits: str) -> int | Decimal:
    return int(digits) if digits.isdigit() else Decimal(digits.replace(",", "."))


def _parts(text: str, start: int, end: int) -> list[Reading]:
    """A run of digits and marks without spaces as one number, else its parts."""
    value = read_digits(text[start:end])
    if value is not None:
        return [(start, end, value)]
    spans = {part.span() for pattern in (_PART, _RUN) for part in pattern.finditer(text, start, end)}
    return [(*span, value) for span in spans if (value := read_digits(text[slice(*span)])) is not None]


def _decorated(match: re.Match[str], readings: list[Reading]) -> Iterator[Reading]:
    """The numbers with each sign, currency, percent and scale that is written at them."""
    money = bool(match["before"] or match["after"])
    signs, units = _signs(match), _units(match, money)
    first, last = match.start("point" if match["point"] else "digits"), match.end()
    booked = match["open"] and match["close"] and not (match["outer"] or match["inner"] or match["percent"])
    for start, end, value in readings:
        lefts = [(start, False), *(signs if start == first else ())]
        rights = [(end, value), *(_with(units, value) if end == last else ())]
        for left, negative in lefts:
            for right, number in rights:
                if (left, right) != (start, end):
                    yield left, right, _negated(number) if negative else number
        if booked and start == first and end == last and (money or _has_mark(match.string[start:end])):
            yield match.start(), match.end("close"), _negated(rights[-1][1])


def _has_mark(digits: str) -> bool:
    return "." in digits or "," in digits


def _signs(match: re.Match[str]) -> list[tuple[int, bool]]:
    """Where the number begins with each thing before it, and whether it is negative then."""
    found, negative = [], False
    for part in ("inner", "before", "outer"):
        if match[part]:
            negative = negative or match[part] in "-\u2212"
            found.append((match.start(part), negative))
    return found


def _units(match: re.Match[str], money: bool) -> list[tuple[int, int]]:
    """Where the number ends with each thing after it, and the power of ten that this multiplies by.

    A bare m is a metre unless it is money.
    """
    found = []
    if match["exponent"]:
        found.append((match.end("exponent"), int(match["exponent"])))
    if match["percent"]:
        found.append((match.end("percent"), 0))
    if match["scale"] and (match["scale"] != "m" or money):
        found.append((match.end("scale"), _SCALES[match["scale"].lower().lstrip(" \u00a0-")]))
    if match["after"]:
        found.append((match.end("after"), 0))
    return found


def _with(units: list[tuple[int, int]], value: int | Decimal) -> Iterator[tuple[int, int | Decimal]]:
    """The ends of a number with its units, and its value with each."""
    for end, power in units:
        value = _scaled(value, power) if power else value
        yield end, value


def _scaled(value: int | Decimal, power: int) -> Decimal:
    return Decimal(value).scaleb(power, _EXACT)


def _negated(value: int | Decimal) -> int | Decimal:
    """With every digit, while a minus would round a decimal to 28 of them."""
    return -value if isinstance(value, int) else value.copy_negate()


def _terminates(bottom: int) -> bool:
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom == 1


def _json(value: int | Decimal) -> int | float:
    """An int where it is whole, else the nearest float."""
    whole = int(value)
    return whole if whole == value else float(value)
