"""The extract leaves of records, with the span of their gold value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from deg_core.config import FillOptions
from deg_core.contract import compile_schema
from deg_core.contract.plan import ITEM, FieldPlan
from deg_core.contract.pointer import read_value, split
from deg_core.model.tokens import ContextTokens, Tokens
from deg_core.values import Candidate, find_candidates, trim_span

Span = tuple[int, int]


@dataclass(frozen=True)
class Gold:
    """A gold value of an extract leaf, its span, and the tokens of its context."""

    field: FieldPlan
    context: str
    tokens: ContextTokens
    value: Any
    span: Span
    pointer: str

    @property
    def plain(self) -> bool:
        """Whether it is a string of no format, which has no grammar."""
        return self.field.mode == "extract.span" and self.field.format is None

    @property
    def printed(self) -> str:
        return self.context[slice(*self.span)]

    def trimmed(self) -> Span:
        """What trimming leaves of the tokens that cover the gold span."""
        first, last = self.tokens.cover(*self.span)
        return trim_span(self.context, int(self.tokens.starts[first]), int(self.tokens.ends[last - 1]))

    def candidates(self, options: FillOptions) -> list[Candidate]:
        """The candidates of its grammar that have the gold value."""
        return [c for c in find_candidates(self.field, self.context, options) if c.value == self.value]

    def same_tokens(self, candidate: Candidate) -> bool:
        return self.tokens.cover(candidate.start, candidate.end) == self.tokens.cover(*self.span)


def gold_of(record: Mapping[str, Any], tokens: Tokens) -> Iterator[Gold]:
    """Every extract leaf of a record that has a span; its other occurrences too where the record names them.

    Leaves with several occurrences of which the record says only how many are left out.
    """
    if not record["spans"]:
        return
    fields = _fields(json.dumps(record["schema"]))
    encoded = tokens.encode_context(record["context"])
    several = record.get("span_counts", {})
    for pointer, span in record["spans"].items():
        field = next((field for field in fields if _is_at(field, split(pointer))), None)
        if field is None or field.kind != "extract" or pointer in several:
            continue
        value = read_value(record["value"], pointer)
        for place in [span, *record.get("span_alternatives", {}).get(pointer, [])]:
            yield Gold(field, record["context"], encoded, value, tuple(place), pointer)


@lru_cache(maxsize=4096)
def _fields(schema: str) -> tuple[FieldPlan, ...]:
    return compile_schema(json.loads(schema)).fields


def _is_at(field: FieldPlan, steps: tuple[str, ...]) -> bool:
    return len(field.path) == len(steps) and all(
        step.isdigit() if own is ITEM else own == step for own, step in zip(field.path, steps, strict=True)
    )
