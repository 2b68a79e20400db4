"""Deterministic grammars: what a text holds that a typed leaf may take (contract sections 3, 4, 12.3)."""

from __future__ import annotations

from deg_core.config import FillOptions
from deg_core.contract.plan import FieldPlan
from deg_core.values.borders import trim_span
from deg_core.values.candidate import Candidate
from deg_core.values.constraints import violated
from deg_core.values.dates import date_candidates, parse_date
from deg_core.values.datetimes import datetime_candidates, parse_datetime
from deg_core.values.formats import format_candidates
from deg_core.values.numbers import number_candidates, parse_number


def find_candidates(field: FieldPlan, text: str, options: FillOptions) -> list[Candidate]:
    """Every candidate of a typed extract leaf (number, date, date-time, email, uri, uuid), in document order.

    Constraints are not applied. Raises ValueError for a leaf that has no grammar.
    """
    if field.mode == "extract.number":
        return number_candidates(text)
    if field.format == "date":
        return date_candidates(text, options.date_order)
    if field.format == "date-time":
        return datetime_candidates(text, options.date_order, options.default_offset)
    if field.format is None:
        raise ValueError(f"{field.mode} without a format has no grammar")
    return format_candidates(text, field.format)


__all__ = [
    "Candidate",
    "date_candidates",
    "datetime_candidates",
    "find_candidates",
    "format_candidates",
    "number_candidates",
    "parse_date",
    "parse_datetime",
    "parse_number",
    "trim_span",
    "violated",
]
