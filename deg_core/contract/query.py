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

from deg_core.contract.plan import ITEM, ArrayPlan, FieldPlan, FillPlan, Path
from deg_core.contract.pointer import concrete, depth, folded

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


def leaf_query(field: FieldPlan, indices: tuple[int, ...], plan: FillPlan, order: Sequence[int] | None = None) -> Query:
    """The query of a decide or extract leaf.

    indices: of its enclosing arrays, outermost first. order: the outcomes as listed (a permutation);
    plan order by default. Nothing but the leaf itself enters the text, so `plan` only names the request.
    """
    del plan
    lines = [f"FIELD {concrete(field.path, indices)}\n", *_item_lines(field.path, indices)]
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


def count_query(array: ArrayPlan, indices: tuple[int, ...]) -> Query:
    """The query for the length of an array. indices: of its enclosing arrays, outermost first."""
    lines = [f"ARRAY {concrete(array.path, indices)}\n", *_item_lines(array.path, indices)]
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


def generate_query(field: FieldPlan, indices: tuple[int, ...], plan: FillPlan) -> Query:
    """The query of a generate leaf, to stand after `known_values`. indices: as in the final value."""
    del plan
    lines = [f"WRITE {concrete(field.path, indices)}\n", *_annotations(field.title, field.description)]
    limits = _constraints(field.constraints)
    if field.max_tokens is not None:
        limits = f"{limits}, max tokens {field.max_tokens}".removeprefix(", ")
    if limits:
        lines.append(f"LIMITS: {limits}\n")
    return Query((*lines, "VALUE:"))


def _kind(field: FieldPlan) -> str:
    if field.mode == "extract.number":
        return field.json_type
    return field.format or _KINDS[field.mode]


def _item_lines(path: Path, indices: tuple[int, ...]) -> list[str]:
    """One line per enclosing array, outermost first; the index is the pointer's, counted from 0."""
    ends = [position for position, step in enumerate(path) if step is ITEM]
    arrays = [path[:end] for end in ends]
    return [
        f"ITEM {index} of {concrete(array, indices[: depth(array)])}\n"
        for array, index in zip(arrays, indices, strict=True)
    ]


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
