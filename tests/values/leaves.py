"""Leaves of a one-field schema."""

from __future__ import annotations

from typing import Any

from deg_core.contract import compile_schema
from deg_core.contract.plan import FieldPlan


def leaf(**schema: Any) -> FieldPlan:
    """The plan of the only field of an object."""
    return compile_schema({"type": "object", "properties": {"x": schema}}).fields[0]
