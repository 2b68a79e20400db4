"""Which keyword a value breaks (contract section 4)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import regex

from deg_core.contract.formats import is_valid
from deg_core.contract.plan import FieldPlan


def violated(field: FieldPlan, value: Any) -> str | None:
    """The first keyword that an extracted value breaks, None when it is valid."""
    if field.mode == "extract.number":
        return _number(field, value)
    limits = field.constraints
    if "minLength" in limits and len(value) < limits["minLength"]:
        return "minLength"
    if "maxLength" in limits and len(value) > limits["maxLength"]:
        return "maxLength"
    if "pattern" in limits and regex.search(limits["pattern"], value) is None:
        return "pattern"
    if field.format is not None and not is_valid(field.format, value):
        return "format"
    return None


def _number(field: FieldPlan, value: int | float) -> str | None:
    if field.json_type == "integer" and value != int(value):
        return "type"
    limits = field.constraints
    number = Decimal(str(value))
    bounds = {key: Decimal(str(limit)) for key, limit in limits.items() if key != "multipleOf"}
    broken = {
        "minimum": lambda limit: number < limit,
        "maximum": lambda limit: number > limit,
        "exclusiveMinimum": lambda limit: number <= limit,
        "exclusiveMaximum": lambda limit: number >= limit,
    }
    for key, breaks in broken.items():
        if key in bounds and breaks(bounds[key]):
            return key
    if "multipleOf" in limits and number % Decimal(str(limits["multipleOf"])) != 0:
        return "multipleOf"
    return None
