"""Which keyword a value breaks (contract section 4)."""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from deg_core.contract.formats import is_valid
from deg_core.contract.patterns import pattern_of
from deg_core.contract.plan import FieldPlan

_BREAKS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "minimum": operator.lt,
    "maximum": operator.gt,
    "exclusiveMinimum": operator.le,
    "exclusiveMaximum": operator.ge,
    "multipleOf": lambda number, step: (number / step).denominator != 1,
}


def violated(field: FieldPlan, value: Any) -> str | None:
    """The first keyword that an extracted value breaks, None when it is valid.

    Numbers are compared exactly as decimals, so 0.3 is a multiple of 0.1. An integer field breaks "type" with
    a number that is not whole. A pattern is searched, as in JSON Schema.
    """
    if field.mode == "extract.number":
        return _number(field, value)
    limits = field.constraints
    if len(value) < limits.get("minLength", 0):
        return "minLength"
    if "maxLength" in limits and len(value) > limits["maxLength"]:
        return "maxLength"
    if "pattern" in limits and not pattern_of(limits["pattern"]).found_in(value):
        return "pattern"
    if field.format is not None and not is_valid(field.format, value):
        return "format"
    return None


def _number(field: FieldPlan, value: int | float) -> str | None:
    number = _exact(value)
    if field.json_type == "integer" and number.denominator != 1:
        return "type"
    for keyword, breaks in _BREAKS.items():
        if keyword in field.constraints and breaks(number, _exact(field.constraints[keyword])):
            return keyword
    return None


def _exact(number: int | float) -> Fraction:
    """The number as it is written in decimals, not as the nearest double."""
    return Fraction(number) if isinstance(number, int) else Fraction(Decimal(str(number)))
