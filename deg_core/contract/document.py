"""The schema document as plain JSON: a private copy, bounded and free of surprises."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from deg_core.contract.errors import Problem, SchemaError
from deg_core.contract.pointer import escape

MAX_JSON_DEPTH = 160
MAX_JSON_VALUES = 500_000
MAX_INTEGER_BITS = 1024


def plain_copy(schema: Any) -> dict[str, Any]:
    """A deep copy of a schema made of dict, list, str, int, float, bool and None only.

    Raises SchemaError when it is not a JSON object, holds what JSON cannot hold (NaN, keys that are
    no strings, unpaired surrogates), nests deeper than MAX_JSON_DEPTH or holds more than
    MAX_JSON_VALUES values.
    """
    if not isinstance(schema, Mapping):
        raise SchemaError([Problem("", f"a schema is a JSON object, not {_json_name(schema)}")])
    copier = _Copier()
    copied = copier.copy(schema, "", 0)
    if copier.problems:
        raise SchemaError(copier.problems)
    return copied


class _Copier:
    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self._values = 0

    def copy(self, value: Any, loc: str, depth: int) -> Any:
        self._values += 1
        if self._values > MAX_JSON_VALUES:
            raise SchemaError([Problem("", f"more than {MAX_JSON_VALUES:,} values; split the schema")])
        if depth > MAX_JSON_DEPTH:
            raise SchemaError([Problem(loc[:200], f"nested deeper than {MAX_JSON_DEPTH} levels; flatten the schema")])
        if isinstance(value, Mapping):
            return self._copy_object(value, loc, depth)
        if isinstance(value, list | tuple):
            return [self.copy(item, f"{loc}/{i}", depth + 1) for i, item in enumerate(value)]
        problem = _scalar_problem(value)
        if problem:
            self.problems.append(Problem(loc, problem))
        return value

    def _copy_object(self, value: Mapping[Any, Any], loc: str, depth: int) -> dict[str, Any]:
        copied = {}
        for key, child in value.items():
            problem = _scalar_problem(key) if isinstance(key, str) else f"the key {key!r} is not a string"
            if problem:
                self.problems.append(Problem(loc, problem))
                continue
            copied[key] = self.copy(child, f"{loc}/{escape(key)}", depth + 1)
        return copied


def _scalar_problem(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, int):
        return f"an integer of more than {MAX_INTEGER_BITS} bits" if value.bit_length() > MAX_INTEGER_BITS else None
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value} is not a JSON number"
    if isinstance(value, str):
        return "holds an unpaired surrogate, which is not text" if unpaired_surrogate(value) is not None else None
    return f"{_json_name(value)} is not a JSON value"


def unpaired_surrogate(text: str) -> int | None:
    """The offset (code points) of the first unpaired surrogate of a string, None when there is none."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _json_name(value: Any) -> str:
    names = {dict: "an object", list: "an array", str: "a string", bool: "a boolean", type(None): "null"}
    return names.get(type(value), f"a value of type {type(value).__name__}")
