"""E-mail addresses, URIs and UUIDs in a text, and the borders of plain spans (contract section 12.3)."""

from __future__ import annotations

import regex

from deg_core.contract.formats import is_valid
from deg_core.values.candidate import Candidate

_PATTERNS = {
    "email": regex.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
    "uri": regex.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"“”\\^`{|}]+"),
    "uuid": regex.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Za-z])"),
}
_LOOSE_START = frozenset(",;:!?.)]}>*|…")
_LOOSE_END = frozenset(",;:([{<*|")
_PAIRS = {")": "(", "]": "[", "}": "{"}
_QUOTES = {'"': '"', "“": "”", "‘": "’", "«": "»", "'": "'", "`": "`"}


def format_candidates(text: str, name: str) -> list[Candidate]:
    """Every address, URI or UUID of a text, as written, in document order."""
    found = []
    for match in _PATTERNS[name].finditer(text):
        start, end = match.span()
        while end > start and not is_valid(name, text[start:end]) or _dangling(text, start, end):
            end -= 1
        while start < end and not is_valid(name, text[start:end]):
            start += 1
        if start < end:
            found.append(Candidate(start, end, text[start:end]))
    return found


def _dangling(text: str, start: int, end: int) -> bool:
    """Whether the last character is punctuation of the sentence around, not of the address."""
    if end <= start:
        return False
    last = text[end - 1]
    if last in _PAIRS:
        return text.count(last, start, end) > text.count(_PAIRS[last], start, end)
    return last in ".,;:!?'*"


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """Drop white space and punctuation that a covering token carried in at the borders of a plain span.

    Closing brackets stay where the span opens them; a quotation mark goes only with its partner or alone.
    """
    while start < end:
        first, last = text[start], text[end - 1]
        if first.isspace() or first in _LOOSE_START:
            start += 1
        elif (
            last.isspace()
            or last in _LOOSE_END
            or last in _PAIRS
            and text.count(last, start, end) > text.count(_PAIRS[last], start, end)
        ):
            end -= 1
        elif first in _PAIRS.values() and _unclosed(text, start, end, first):
            start += 1
        elif first in _QUOTES and end - start > 1 and text.find(_QUOTES[first], start + 1, end) in (-1, end - 1):
            end -= last == _QUOTES[first]
            start += 1
        elif last in _QUOTES.values() and last not in "'’" and text.count(last, start, end) == 1:
            end -= 1
        else:
            break
    return start, end


def _unclosed(text: str, start: int, end: int, first: str) -> bool:
    closing = next(close for close, opening in _PAIRS.items() if opening == first)
    return text.count(first, start, end) > text.count(closing, start, end)
