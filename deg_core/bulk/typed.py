"""The Arrow types of a fill: `value` as a struct that DuckDB can compute with, `meta` as a list (design 4).

The typed value follows from the plan alone. Objects and arrays without a leaf below them have no place
in it; the exact JSON text is always in `value_json`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa

from deg_core.contract.plan import ITEM, FieldPlan, FillPlan

META_ENTRY = pa.struct(
    [
        ("pointer", pa.string()),
        ("mode", pa.string()),
        ("probability", pa.float64()),
        ("confidence", pa.float64()),
        ("expected", pa.float64()),
        ("probabilities", pa.list_(pa.float64())),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("null_reason", pa.string()),
        ("assumed_offset", pa.bool_()),
        ("items", pa.int64()),
        ("dropped", pa.int64()),
        ("generated_tokens", pa.int64()),
        ("other", pa.string()),
    ]
)
META_TYPE = pa.list_(META_ENTRY)
_META_KEYS = {entry.name for entry in META_ENTRY} - {"pointer", "start", "end", "other"}
INT64 = range(-(2**63), 2**63)


class NotTyped(Exception):  # noqa: N818 (not an error of the fill: the cell's exact text is in value_json)
    """A valid JSON value that its Arrow type cannot hold, such as an integer beyond 64 bits."""


@dataclass
class Node:
    """A place in the value: exactly one of leaf, item and members is set."""

    type: pa.DataType
    leaf: Callable[[Any], Any] | None = None
    item: Node | None = None
    members: dict[str, Node] = field(default_factory=dict)


class ValueColumn:
    """The `value` column of a plan: `type` and the conversion of a JSON value to it."""

    def __init__(self, plan: FillPlan):
        paths = [(field_plan.path, field_plan) for field_plan in plan.fields]
        self._root = _node(paths) if paths else Node(pa.string(), leaf=_json_text)
        self.type = self._root.type

    def convert(self, value: Any) -> tuple[Any, int]:
        """(value for Arrow, how many leaves became null because their type cannot hold them)."""
        return _convert(self._root, value)


def meta_column(meta: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A response's `meta` (contract 8) as rows of META_ENTRY; keys without a column go to `other` as JSON."""
    rows = []
    for pointer, entry in meta.items():
        start, end = entry.get("span") or (None, None)
        row = {key: entry[key] for key in _META_KEYS if key in entry}
        other = {key: value for key, value in entry.items() if key not in _META_KEYS and key != "span"}
        rows.append(
            {"pointer": pointer, **row, "start": start, "end": end, "other": _json_text(other) if other else None}
        )
    return rows


def _node(paths: Iterable[tuple[tuple, FieldPlan]]) -> Node:
    """The tree of the leaves whose remaining paths these are."""
    groups: dict[Any, list[tuple[tuple, FieldPlan]]] = {}
    for path, leaf in paths:
        if not path:
            return _leaf(leaf)
        groups.setdefault(path[0], []).append((path[1:], leaf))
    if ITEM in groups:
        item = _node(groups[ITEM])
        return Node(pa.list_(item.type), item=item)
    members = {name: _node(below) for name, below in groups.items()}
    return Node(pa.struct([(name, member.type) for name, member in members.items()]), members=members)


def _leaf(leaf: FieldPlan) -> Node:
    if leaf.mode == "decide.choice":
        return _choice([option for option in leaf.options if option is not None])
    if leaf.mode == "decide.noul":
        return Node(pa.bool_(), leaf=bool)
    if leaf.mode == "decide.score" or (leaf.mode == "extract.number" and leaf.json_type == "integer"):
        return Node(pa.int64(), leaf=_integer)
    if leaf.mode == "extract.number":
        return Node(pa.float64(), leaf=_double)
    if leaf.mode == "extract.date" and leaf.format == "date":
        return Node(pa.date32(), leaf=_date)
    if leaf.mode == "extract.date":
        return Node(pa.timestamp("us", "UTC"), leaf=_timestamp)
    return Node(pa.string(), leaf=str)


def _choice(options: list[Any]) -> Node:
    kinds = {type(option) for option in options}
    if kinds == {str}:
        return Node(pa.string(), leaf=str)
    if kinds == {bool}:
        return Node(pa.bool_(), leaf=bool)
    if kinds == {int} and all(option in INT64 for option in options):
        return Node(pa.int64(), leaf=_integer)
    if kinds and kinds <= {int, float}:
        return Node(pa.float64(), leaf=_double)
    return Node(pa.string(), leaf=_json_text)


def _convert(node: Node, value: Any) -> tuple[Any, int]:
    if value is None:
        return None, 0
    if node.leaf is not None:
        try:
            return node.leaf(value), 0
        except NotTyped:
            return None, 1
    if node.item is not None:
        pairs = [_convert(node.item, item) for item in value]
        return [item for item, _ in pairs], sum(lost for _, lost in pairs)
    parts = {name: _convert(member, value.get(name)) for name, member in node.members.items()}
    return {name: part for name, (part, _) in parts.items()}, sum(lost for _, lost in parts.values())


def _json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _integer(value: int | float) -> int:
    number = int(value)
    if number not in INT64:
        raise NotTyped(str(value))
    return number


def _double(value: int | float) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise NotTyped(str(value)) from error


def _date(value: str) -> date:
    try:
        return date.fromisoformat(value)
    except ValueError as error:
        raise NotTyped(value) from error


def _timestamp(value: str) -> datetime:
    """An RFC 3339 date-time; a leap second, or an instant outside the years 1 to 9999 in UTC, has no timestamp."""
    try:
        instant = datetime.fromisoformat(value.upper())
        if instant.tzinfo is None:
            raise NotTyped(value)
        return instant.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise NotTyped(value) from error
