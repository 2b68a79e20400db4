"""The fill plan: what `compile_schema` returns (contract section 6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

Mode = Literal[
    "decide.choice",
    "decide.noul",
    "decide.score",
    "extract.number",
    "extract.date",
    "extract.span",
    "generate",
]
OnNull = Literal["null", "omit", "forbid"]


class _Item:
    """The path step that stands for each item of an array."""

    def __repr__(self) -> str:
        return "*"

    def __reduce__(self) -> str:
        return "ITEM"


ITEM: Final = _Item()
PathStep = str | _Item
Path = tuple[PathStep, ...]


@dataclass(frozen=True)
class FieldPlan:
    """A leaf of the schema.

    path: property names; ITEM for each item of an array.
    mode: how the value is found; follows only from type and keywords (section 3).
    json_type: the non-null JSON type of the value; "enum" for a choice.
    options: decide.choice outcomes in schema order (decide.noul has none).
    option_descriptions: parallel to options, None where there is none.
    levels: decide.score outcomes in ascending order; level_labels parallel, None where unlabelled.
    null_outcome: a nullable score's extra outcome, always after the levels.
    format: date, date-time, email, uri, uuid or None.
    constraints: the validating keywords, e.g. {"minimum": 0, "pattern": "..."}.
    required: True when every enclosing object requires the key.
    on_null: what an extract field that finds nothing becomes (section 4).
    max_tokens: x-max-tokens of a generate field.
    omit_path: what an "omit" leaves out: the leaf, or the nearest optional object that requires it.
    fingerprint: sha256 of the canonical leaf, the same wherever the leaf stands.
    """

    path: Path
    mode: Mode
    json_type: str
    options: tuple[Any, ...] = ()
    option_descriptions: tuple[str | None, ...] = ()
    levels: tuple[int, ...] = ()
    level_labels: tuple[str | None, ...] = ()
    null_outcome: bool = False
    format: str | None = None
    constraints: Mapping[str, Any] = None  # type: ignore[assignment]
    required: bool = True
    nullable: bool = False
    on_null: OnNull = "forbid"
    title: str | None = None
    description: str | None = None
    max_tokens: int | None = None
    omit_path: Path = ()
    fingerprint: str = ""

    def __post_init__(self) -> None:
        if self.constraints is None:
            object.__setattr__(self, "constraints", {})

    @property
    def kind(self) -> str:
        """The head that answers it: choice, score, noul, extract or generate."""
        family, _, head = self.mode.partition(".")
        return head if family == "decide" else family

    @property
    def outcomes(self) -> tuple[Any, ...]:
        """decide outcomes in the order of `probabilities`; noul is (True, False)."""
        if self.mode == "decide.choice":
            return self.options
        if self.mode == "decide.score":
            return (*self.levels, None) if self.null_outcome else self.levels
        if self.mode == "decide.noul":
            return (True, False)
        return ()


@dataclass(frozen=True)
class ArrayPlan:
    """An array of the schema; its length is found at run time (section 3).

    path: like FieldPlan.path, without the final ITEM.
    max_items: None = no cap of its own (section 4).
    required: whether every enclosing object requires the key.
    item_paths: the paths of its item's leaves, for the count query's ITEM FIELDS line.
    """

    path: Path
    min_items: int = 0
    max_items: int | None = None
    unique_items: bool = False
    required: bool = True
    title: str | None = None
    description: str | None = None
    item_paths: tuple[Path, ...] = ()


@dataclass(frozen=True)
class FillPlan:
    """A compiled schema: pure data, safe to share between threads and requests.

    fields, arrays: in schema order, depth first. schema: a private copy of the input.
    fingerprint: stable under reordering of decide and extract fields (section 6).
    order: the path of every object, array, array item and leaf below the root, in schema order.
    """

    fields: tuple[FieldPlan, ...]
    arrays: tuple[ArrayPlan, ...]
    schema: Mapping[str, Any]
    fingerprint: str
    order: tuple[Path, ...] = ()
