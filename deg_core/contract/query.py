"""The text of every query: the only place where it is written (contract section 12.1).

A query is a list of lines; its caller tokenises each line alone, so that the tokens of an option do
not depend on its neighbours. Every line ends in a newline but a query's last (`ANSWER:`, `VALUE:`),
after which the model answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from deg_core.contract.plan import ITEM, ArrayPlan, FieldPlan, Path
from deg_core.contract.pointer import concrete, folded

ItemName = int | str
"""How a query names an array's item: by its number, or by the text of the context where it starts."""

_KINDS = {"decide.choice": "choice", "decide.noul": "yes or no", "decide.score": "score", "extract.span": "text"}
_CONSTRAINT_WORDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "multipleOf": "multiple of",
    "minLength": "min length",
    "maxLength": "max length",
    "pattern": "pattern",
}


@dataclass(frozen=True)
class Query:
    """lines: the text. option_lines: indices into lines, one per outcome in plan order (none for a noul).

    option_texts: parallel to option_lines, the outcomes' texts without "- " and newline.
    """

    lines: tuple[str, ...]
    option_lines: tuple[int, ...] = ()
    option_texts: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All lines together."""
        return "".join(self.lines)


def leaf_query(field: FieldPlan, items: Sequence[ItemName], order: Sequence[int] | None = None) -> Query:
    """The query of a decide or extract leaf.

    items: of its enclosing arrays, outermost first. order: the outcomes as listed (a permutation); plan order by
    default.
    """
    lines = [f"FIELD {_pointer(field.path, items)}\n", *_item_lines(field.path, items)]
    lines += _annotations(field.title, field.description)
    lines.append(f"KIND: {_kind(field)}\n")
    if field.kind == "extract" and field.constraints:
        lines.append(f"CONSTRAINTS: {_constraints(field.constraints)}\n")
    texts = option_texts(field)
    order = range(len(texts)) if order is None else order
    if sorted(order) != list(range(len(texts))):
        raise ValueError(f"order {tuple(order)} is no permutation of {len(texts)} outcomes")
    places = [0] * len(texts)
    if texts:
        lines.append("OPTIONS:\n")
        for outcome in order:
            places[outcome] = len(lines)
            lines.append(f"- {texts[outcome]}\n")
    return Query((*lines, "ANSWER:"), tuple(places), texts)


def option_texts(field: FieldPlan) -> tuple[str, ...]:
    """The text of every outcome of a choice or score, in plan order; none for other leaves."""
    if field.mode == "decide.choice":
        descriptions = field.option_descriptions or (None,) * len(field.options)
        names = _option_names(field.options)
        return tuple(_described(name, text) for name, text in zip(names, descriptions, strict=True))
    if field.mode == "decide.score":
        labels = field.level_labels or (None,) * len(field.levels)
        texts = [_described(str(level), label) for level, label in zip(field.levels, labels, strict=True)]
        return (*texts, "null") if field.null_outcome else tuple(texts)
    return ()


def count_query(array: ArrayPlan, items: Sequence[ItemName]) -> Query:
    """The query for an array's length and where its items start. items: of its enclosing arrays, outermost first."""
    lines = [f"ARRAY {_pointer(array.path, items)}\n", *_item_lines(array.path, items)]
    lines += _annotations(array.title, array.description)
    below = len(array.path) + 1
    names = [folded(path[below:])[1:] for path in array.item_paths if len(path) > below]
    if names:
        lines.append(f"ITEM FIELDS: {', '.join(names)}\n")
    return Query((*lines, "KIND: count\n", "ANSWER:"))


def known_values(values: Iterable[tuple[str, Any]]) -> Query:
    """The block that generated text is conditioned on: (pointer, value) in leaf order.

    Every line ends in a newline; a `generate_query` follows.
    """
    lines = [f"{pointer} = {json.dumps(value, ensure_ascii=False)}\n" for pointer, value in values]
    return Query(("KNOWN VALUES:\n", *lines))


def generate_query(field: FieldPlan, items: Sequence[ItemName], chat: bool = False) -> Query:
    """The query of a generate leaf, to stand after `known_values`. items: numbers as in the final value.

    A number stands in the pointer and is not said again. chat: as an instruction, which the tokens of the chat's next
    turn follow.
    """
    placed = [line for line, item in zip(_item_lines(field.path, items), items, strict=True) if isinstance(item, str)]
    asked = "Write {} for the text above. Say only what the text says.\n" if chat else "WRITE {}\n"
    lines = [asked.format(_pointer(field.path, items)), *placed, *_annotations(field.title, field.description)]
    limits = _constraints(field.constraints)
    if field.max_tokens is not None:
        limits = f"{limits}, max tokens {field.max_tokens}".removeprefix(", ")
    if limits:
        lines.append(f"LIMITS: {limits}\n")
    return Query((*lines, "Answer with the value alone." if chat else "VALUE:"))


def _kind(field: FieldPlan) -> str:
    if field.mode == "extract.number":
        return field.json_type
    return field.format or _KINDS[field.mode]


def _pointer(path: Path, items: Sequence[ItemName]) -> str:
    """The pointer of a place, with "*" for an item that is named by its text."""
    return concrete(path, tuple("*" if isinstance(item, str) else item for item in items))


def _item_lines(path: Path, items: Sequence[ItemName]) -> list[str]:
    """One line per enclosing array, outermost first; a number is the pointer's, counted from 0."""
    ends = [position for position, step in enumerate(path) if step is ITEM]
    lines = []
    for level, (end, item) in enumerate(zip(ends, items, strict=True)):
        array = _pointer(path[:end], items[:level])
        named = f"{array} AT: {json.dumps(item, ensure_ascii=False)}" if isinstance(item, str) else f"{item} of {array}"
        lines.append(f"ITEM {named}\n")
    return lines


def _annotations(title: str | None, description: str | None) -> list[str]:
    named = (("TITLE", title), ("DESCRIPTION", description))
    return [f"{name}: {text.strip()}\n" for name, text in named if text and text.strip()]


def _constraints(constraints: Mapping[str, Any]) -> str:
    return ", ".join(f"{words} {constraints[key]}" for key, words in _CONSTRAINT_WORDS.items() if key in constraints)


def _described(name: str, description: str | None) -> str:
    return f"{name}: {' '.join(description.split())}" if description and description.strip() else name


def _option_names(options: Sequence[Any]) -> list[str]:
    """Strings as they are, other scalars as JSON; a string that would read like another option is quoted."""
    others = {json.dumps(option) for option in options if not isinstance(option, str)}
    return [_option_name(option, others) for option in options]


def _option_name(option: Any, others: set[str]) -> str:
    if (
        isinstance(option, str)
        and option.isprintable()
        and option == option.strip()
        and option
        and option not in others
    ):
        return option
    return json.dumps(option, ensure_ascii=False)
