"""Numbers as people write them (contract section 3): every candidate in a text, in one pass.

How a written number is read:

* `.` and `,` together: the last one is the decimal mark, the other one groups thousands.
* a mark that comes several times groups thousands, if every group has three digits.
* one comma before exactly three digits groups (1,234); any other comma is a decimal mark (12,5; 0,125).
* one point is a decimal mark (1.234 is a little over one).
* apostrophes and spaces only group, by threes.

A run of digits and marks that fits none of these (a date, a version) is read as its separate numbers.
Signs count where they cannot join two things (not in 393-397); accounting parentheses only around an
amount with a decimal or currency mark. A percent sign changes nothing: 15% is 15. Scale words and
suffixes multiply where they belong to the number (2.5 million, 3k, $4M).
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import regex

from deg_core.values.candidate import Candidate

MAX_DIGITS = 40
_CURRENCY = r"(?:[$€£¥₹₩₽฿]|\b(?:US|A|C|NZ|HK|S)\$|\b(?:USD|EUR|GBP|JPY|CHF|SEK|NOK|DKK|PLN|CZK|HUF|CAD|AUD|NZD|INR|CNY|BRL|MXN|ZAR|SGD|HKD|RM|Rs\.?|kr\.?|zł)(?![^\W\d_]))"
_RUN = regex.compile(
    rf"""
    (?P<open>\()?
    (?P<sign_a>(?<![\w)\]])[-+\u2212])?
    (?P<before>{_CURRENCY}[ \u00a0]?)?
    (?P<sign_b>(?<![\w)\] ])[-+\u2212]|(?<=(?:^|\s))[-+\u2212])?
    (?P<core>[0-9]+(?:[.,'\u2019][0-9]+|[ \u00a0\u202f][0-9]{{3}}(?![0-9]))*)
    (?P<percent>[ ]?%)?
    (?P<scale>[ \u00a0]?(?:hundred|thousand|million|billion|trillion|mn|bn)\b|[kKMB](?![\w]))?
    (?P<after>[ \u00a0]?{_CURRENCY})?
    (?P<close>\))?
    """,
    regex.VERBOSE,
)
_FRACTION = regex.compile(
    r"(?<![\w/.,])(?:(?P<whole>[0-9]{1,6})[ -])?(?P<top>[0-9]{1,4})/(?P<bottom>[0-9]{1,4})(?![\w/])"
)
_SCALES = {
    "hundred": 2,
    "thousand": 3,
    "k": 3,
    "million": 6,
    "mn": 6,
    "m": 6,
    "billion": 9,
    "bn": 9,
    "b": 9,
    "trillion": 12,
}
_UNITS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_WORDS = (
    {"zero": 0} | {word: i + 1 for i, word in enumerate(_UNITS)} | {word: 10 * (i + 2) for i, word in enumerate(_TENS)}
)
_SPELLED = regex.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[ -](?P<unit>{'|'.join(_UNITS[:9])}))?|(?P<word>zero|{'|'.join(reversed(_UNITS))}))\b",
    regex.IGNORECASE,
)
_DIGITS = regex.compile(r"[0-9]+")


def number_candidates(text: str) -> list[Candidate]:
    """Every reading of every number in a text, in document order; longer spans first at one start."""
    found = {(c.start, c.end): c for source in (_written, _fractions, _spelled) for c in source(text)}
    return sorted(found.values(), key=lambda c: (c.start, -c.end))


def parse_number(text: str) -> int | float | None:
    """The number that a text is, as a whole; None when it is none."""
    text = text.strip()
    whole = [c for c in number_candidates(text) if (c.start, c.end) == (0, len(text))]
    return whole[0].value if whole else None


def _written(text: str) -> Iterator[Candidate]:
    for match in _RUN.finditer(text):
        start, end = match.span("core")
        core = match["core"]
        if len(core) > MAX_DIGITS:
            continue
        value = _read(core)
        if value is None or any(mark in core for mark in " \u00a0\u202f"):
            yield from _pieces(text, start, end)
        if value is not None:
            yield from _decorated(match, value)


def _pieces(text: str, start: int, end: int) -> Iterator[Candidate]:
    for match in _DIGITS.finditer(text, start, end):
        yield Candidate(match.start(), match.end(), int(match[0]))


def _decorated(match: regex.Match[str], value: Decimal) -> Iterator[Candidate]:
    """The bare number, and the number with each sign, currency, percent and scale written at it."""
    start, end = match.span("core")
    sign = match["sign_a"] or match["sign_b"] or ""
    negative = sign in ("-", "\u2212") and bool(sign)
    scale = (match["scale"] or "").strip().lower()
    scaled = value.scaleb(_SCALES[scale]) if scale else value
    signed, signed_scaled = (-value, -scaled) if negative else (value, scaled)
    spans: dict[tuple[int, int], Decimal] = {(start, end): value}
    first = min(match.start(name) for name in ("sign_a", "before", "sign_b", "core") if match[name] is not None)
    near = match.start("sign_b") if match["sign_b"] else start
    unit = max(match.end(name) for name in ("core", "percent") if match[name] is not None)
    for left in {near, first}:
        inner = signed if sign and left <= _sign_start(match) else value
        outer = signed_scaled if sign and left <= _sign_start(match) else scaled
        spans.setdefault((left, end), inner)
        spans.setdefault((left, unit), inner)
        if scale:
            spans[left, match.end("scale")] = outer
        if match["after"]:
            spans[left, match.end("after")] = outer
    amount = match["before"] or match["after"] or "." in match["core"] or "," in match["core"]
    if match["open"] and match["close"] and amount and not sign:
        spans[match.start(), match.end()] = -scaled
    for (left, right), number in spans.items():
        yield Candidate(left, right, _json(number))


def _sign_start(match: regex.Match[str]) -> int:
    return match.start("sign_a") if match["sign_a"] else match.start("sign_b")


def _read(core: str) -> Decimal | None:
    """The value of digits with marks; None when the marks make no number."""
    for space in (" ", "\u00a0", "\u202f", "\u2019"):
        core = core.replace(space, "'")
    marks = [c for c in core if not c.isdigit()]
    kinds = set(marks)
    decimal = ""
    if {".", ","} <= kinds or (len(marks) >= 1 and marks[-1] in ".," and kinds - {marks[-1]}):
        decimal = marks[-1]
        if marks.count(decimal) > 1:
            return None
    elif len(marks) == 1 and marks[0] in ".,":
        after = core.split(marks[0])
        grouping = marks[0] == "," and len(after[1]) == 3 and after[0] != "0" and len(after[0]) <= 3
        decimal = "" if grouping else marks[0]
    whole, _, fraction = core.partition(decimal) if decimal else (core, "", "")
    groups = regex.split(r"[.,']", whole)
    separators = {c for c in whole if not c.isdigit()}
    if len(separators) > 1 or (len(groups) > 1 and not _grouped(groups)):
        return None
    digits = "".join(groups)
    return Decimal(f"{digits}.{fraction}" if fraction else digits)


def _grouped(groups: list[str]) -> bool:
    return 1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:])


def _fractions(text: str) -> Iterator[Candidate]:
    for match in _FRACTION.finditer(text):
        bottom = int(match["bottom"])
        if bottom and _terminates(bottom):
            value = Decimal(int(match["top"])) / Decimal(bottom)
            yield Candidate(match.start("top"), match.end(), _json(value))
            if match["whole"]:
                yield Candidate(match.start(), match.end(), _json(int(match["whole"]) + value))


def _terminates(bottom: int) -> bool:
    for prime in (2, 5):
        while bottom % prime == 0:
            bottom //= prime
    return bottom == 1


def _spelled(text: str) -> Iterator[Candidate]:
    for match in _SPELLED.finditer(text):
        if match["word"]:
            yield Candidate(*match.span(), _WORDS[match["word"].lower()])
            continue
        tens = _WORDS[match["tens"].lower()]
        yield Candidate(*match.span("tens"), tens)
        if match["unit"]:
            yield Candidate(*match.span(), tens + _WORDS[match["unit"].lower()])


def _json(value: Decimal | int) -> int | float:
    """An int where it is whole, else the nearest float."""
    return int(value) if value == int(value) else float(value)
