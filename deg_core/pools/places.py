"""Where a gold value is printed in a context whose record does not say so (training specification, section 2)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from itertools import islice
from typing import Any

from deg_core.config import FillOptions
from deg_core.contract.plan import FieldPlan
from deg_core.pools.annotations import Span
from deg_core.values import Candidate, find_candidates

MAX_OCCURRENCES = 32
_READINGS = tuple(FillOptions(date_order=order) for order in (None, "DMY", "MDY"))


class Places:
    """Finds values in one context; candidates are read once per grammar."""

    def __init__(self, context: str):
        self._context = context
        self._candidates: dict[tuple[str, str | None, str], list[Candidate]] = {}

    def find(self, field: FieldPlan, value: Any, *, unique: bool) -> tuple[Span, ...]:
        """Spans that hold the value of an extract field, in document order, at most MAX_OCCURRENCES.

        A number, date or formatted string is at every candidate of its grammar that reads as the value (an
        ambiguous date in either order, since the value says which was meant); of candidates inside each other
        ("40" in "40 EUR") at the inner one. A plain string is at its occurrences as whole words, white space
        taken as equal; with unique, only when there is just one.
        """
        if field.mode == "extract.span" and field.format is None:
            spans = self._occurrences(value)
            return () if unique and len(spans) > 1 else spans
        found = {(c.start, c.end) for c in self._of(field) if _same(field, c.value, value)}
        return _innermost(found)[:MAX_OCCURRENCES]

    def _of(self, field: FieldPlan) -> list[Candidate]:
        grammar = (field.mode, field.format, field.json_type)
        if grammar not in self._candidates:
            readings = _READINGS if field.mode == "extract.date" else _READINGS[:1]
            self._candidates[grammar] = [
                c for options in readings for c in find_candidates(field, self._context, options)
            ]
        return self._candidates[grammar]

    def _occurrences(self, value: str) -> tuple[Span, ...]:
        words = value.split()
        if not words:
            return ()
        before = r"(?<!\w)" if words[0][0].isalnum() else ""
        after = r"(?!\w)" if words[-1][-1].isalnum() else ""
        pattern = re.compile(before + r"\s+".join(map(re.escape, words)) + after)
        return tuple(match.span() for match in islice(pattern.finditer(self._context), MAX_OCCURRENCES))


def _innermost(spans: Iterable[Span]) -> tuple[Span, ...]:
    """In order, the spans that hold no other one."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span[0], -span[1])):
        if kept and span[1] <= kept[-1][1]:
            kept[-1] = span
        else:
            kept.append(span)
    return tuple(kept)


def _same(field: FieldPlan, found: Any, gold: Any) -> bool:
    if field.format == "date-time" and isinstance(gold, str):
        return found == gold or _instant(found) == _instant(gold)
    return found == gold


def _instant(text: str) -> datetime | str:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return text
