"""Choices: enums, and anyOf / oneOf whose branches are all const or enum (contract sections 3 and 5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from deg_core.contract.keywords import refusal
from deg_core.contract.pointer import escape
from deg_core.contract.refs import Place

MAX_OPTIONS = 255
_BRANCH_KEYWORDS = ("const", "enum", "type")

Report = Callable[[str, str], None]


def show(value: Any) -> str:
    """A short JSON text of a value, for messages."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}..."


def identity(value: Any) -> tuple[bool, Any]:
    """A key equal for equal JSON scalars: 1 is 1.0, true is not 1."""
    return isinstance(value, bool), value


def has_type(value: Any, json_type: str, nullable: bool = False) -> bool:
    """Whether a JSON scalar has a JSON type; 2.0 is an integer."""
    if value is None:
        return nullable or json_type == "null"
    if isinstance(value, bool):
        return json_type == "boolean"
    if json_type == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    python_types: dict[str, tuple[type, ...]] = {"string": (str,), "number": (int, float)}
    return isinstance(value, python_types.get(json_type, ()))


def check_options(values: Sequence[Any], loc: str, report: Report) -> None:
    """Report what keeps these values from being the outcomes of one choice; loc: the keyword listing them."""
    if not 2 <= len(values) <= MAX_OPTIONS:
        report(loc, f"{len(values)} value{'s' * (len(values) != 1)}; a choice has 2 to {MAX_OPTIONS}")
    seen: set[tuple[bool, Any]] = set()
    for value in values:
        if isinstance(value, dict | list):
            report(loc, f"{show(value)} is no scalar; a choice is between strings, numbers, booleans and null")
        elif identity(value) in seen:
            report(loc, f"duplicate value {show(value)}")
        else:
            seen.add(identity(value))


def is_constant(schema: Any) -> bool:
    """Whether a branch lists its values."""
    return isinstance(schema, dict) and ("const" in schema or "enum" in schema)


def is_null(schema: Any) -> bool:
    """Whether a branch is {"type": "null"}, annotated or not."""
    return isinstance(schema, dict) and schema.get("type") in ("null", ["null"]) and not is_constant(schema)


def admits_null(schema: Mapping[str, Any]) -> bool:
    """Whether a branch that is not {"type": "null"} lists null among its types or values."""
    named = schema.get("type", ())
    return (not named or "null" in named) and (None in schema["enum"] if "enum" in schema else "null" in named)


def branch_options(place: Place, report: Report) -> list[tuple[Any, str | None]]:
    """The (value, description) pairs of one branch."""
    branch = place.schema
    for keyword in branch:
        if keyword not in (*_BRANCH_KEYWORDS, *place.annotations) and not (
            keyword == "x-generate" and branch[keyword] is False
        ):
            report(f"{place.loc}/{escape(keyword)}", refusal(keyword, "a branch of const or enum"))
    if is_null(branch):
        values = [None]
    elif "const" in branch and "enum" in branch:
        report(place.loc, "const and enum in one branch; keep one of them")
        return []
    else:
        values = [branch["const"]] if "const" in branch else branch["enum"]
    types = branch.get("type", ())
    types = [types] if isinstance(types, str) else types
    for value in values:
        if types and not any(has_type(value, name) for name in types):
            report(place.loc, f"{show(value)} is not of type {', '.join(types)}")
    return [(value, branch.get("description")) for value in values]
