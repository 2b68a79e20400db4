"""English numbers in words, up to billions: four, twenty-one, two hundred and five (contract section 3)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_UNITS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: value for value, word in enumerate(["zero", *_UNITS, *_TEENS])} | {
    word: 10 * (index + 2) for index, word in enumerate(_TENS)
}
_THOUSANDS = {"thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORD = "|".join(sorted([*_SMALL, "hundred", *_THOUSANDS], key=len, reverse=True))
# A run of number words, joined by a space, a hyphen or "and"; "a" only before hundred, thousand and so on.
_RUN = re.compile(
    rf"(?=[abefhmnostz])\b(?:a(?= (?:hundred|thousand|million|billion)\b)|{_WORD})(?:(?: and |[ -])(?:{_WORD}))*\b",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"\w+")


def spelled_numbers(text: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Spans and values of the numbers in words, each as long as it reads as one number, in document order."""
    for run in _RUN.finditer(text):
        words = list(_TOKEN.finditer(text, *run.span()))
        names = [word[0].lower() for word in words]
        first = 0
        while first < len(words):
            stop, value = _longest(names, first)
            if value is not None:
                yield (words[first].start(), words[stop - 1].end()), value
            first = stop


def _longest(names: list[str], first: int) -> tuple[int, int | None]:
    """The end of the longest number from a word on, and its value; the next word and None when there is none."""
    if names[first] == "zero":
        return first + 1, 0
    total, current, limit = 0, int(names[first] == "a"), 10**12
    stop, value = first + 1, None
    for place in range(first + current, len(names)):
        name = names[place]
        if name == "and":
            if current % 100 or not total + current:
                break
            continue
        if name in _SMALL and 0 < _SMALL[name] < _room(current):
            current += _SMALL[name]
        elif name == "hundred" and 1 <= current <= 99:
            current *= 100
        elif name in _THOUSANDS and current and _THOUSANDS[name] < limit:
            limit = _THOUSANDS[name]
            total, current = total + current * limit, 0
        else:
            break
        stop, value = place + 1, total + current
    return stop, value


def _room(current: int) -> int:
    """What may be added to a number below a thousand: less than 100 to hundreds, a unit to tens."""
    if current % 100 == 0:
        return 100
    return 10 if current % 10 == 0 and current % 100 >= 20 else 0
