"""The borders of a plain span: what its covering tokens carried in is dropped (contract section 12.3).

The rule was chosen on gold spans of public data, each widened to whole tokens. A token brings in the white
space before a word, and the punctuation that follows other punctuation without a space: `).`, `.”`, `"(`.
"""

from __future__ import annotations

from collections import Counter

_LOOSE = frozenset(",;:")
_STOPS = frozenset(".?!'’")
_OPENING = {")": "(", "]": "[", "}": "{", "”": "“", "»": "«"}
_CLOSING = {opening: closing for closing, opening in _OPENING.items()}
_SYMMETRIC = frozenset('"`')


def trim_span(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space and punctuation of the text around it.

    Commas, colons and semicolons go; brackets and quotation marks only where their partner is outside; a full
    stop, question or exclamation mark or apostrophe only after another mark, so that "Inc." and "dogs'" stay
    whole and "(2nd ed.)." loses its last point.
    start, end: half-open code points; the result lies within and may be empty.
    """
    counts = Counter(text[start:end])
    while start < end:
        first, last = text[start], text[end - 1]
        if _loose(first, counts):
            start += 1
            counts[first] -= 1
        elif _loose(last, counts) or _extra_stop(text, start, end, counts):
            end -= 1
            counts[last] -= 1
        else:
            break
    return start, end


def _loose(mark: str, counts: Counter[str]) -> bool:
    """Whether a character at a border is not part of the span that has these counts of characters."""
    if mark.isspace() or mark in _LOOSE:
        return True
    if mark in _SYMMETRIC:
        return counts[mark] % 2 == 1
    partner = _OPENING.get(mark) or _CLOSING.get(mark)
    return partner is not None and counts[mark] > counts[partner]


def _extra_stop(text: str, start: int, end: int, counts: Counter[str]) -> bool:
    """Whether the last character is a mark of the sentence after a mark of the span's own."""
    if end - start < 2 or text[end - 1] not in _STOPS:
        return False
    before, last = text[end - 2], text[end - 1]
    if before.isalnum() or before.isspace():
        return False
    if last in "'’":
        return counts[last] == 1 and not counts["‘"]
    ellipsis = text[max(start, end - 3) : end] == "..."
    return not ellipsis and {before, last} != {"?", "!"} and not (before == last != ".")
