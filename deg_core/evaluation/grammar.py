"""The baseline's grammar: a JSON Schema made finite and strict for llguidance (design section 3).

What is added is to its favour: without bounds it invents keys, digits and items until the cap. What is taken
away is only what the grammar engine cannot enforce, and it is named.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from llguidance import LLMatcher, LLTokenizer

from deg_core.contract.errors import InputError
from deg_core.contract.plan import FillPlan, Path
from deg_core.contract.pointer import escape, folded, read_value
from deg_core.evaluation.compare import present_values

DEFAULT_MAX_LENGTH = 256
MAX_ITEMS = 32
MAX_MAGNITUDE = 10**15
NUMBER_STEP = 1e-6
LENGTH_SLACK = 1.25

_DROPPED = ("uniqueItems", "title", "default", "examples", "$comment", "readOnly", "writeOnly", "deprecated")
_CHILDREN = ("properties", "$defs", "definitions")
_BRANCHES = ("anyOf", "oneOf")


@dataclass
class ValueBounds:
    """Longest texts (code points) and arrays (items) of the training values of one records file.

    by_field: folded pointer -> length. by_mode: mode of a leaf or "array" -> length, for fields that
    training never saw.
    """

    by_field: dict[str, int] = field(default_factory=dict)
    by_mode: dict[str, int] = field(default_factory=dict)

    def add(self, plan: FillPlan, value: Any) -> None:
        """Take in one training value."""
        for path, mode in _bounded(plan):
            lengths = [len(found) for found in present_values(path, value) if isinstance(found, str | list)]
            if lengths:
                name = folded(path)
                self.by_field[name] = max(self.by_field.get(name, 1), *lengths)
                self.by_mode[mode] = max(self.by_mode.get(mode, 1), *lengths)

    def limits(self, plan: FillPlan) -> dict[str, int]:
        """Folded pointer -> maxLength or maxItems of every text and array, a quarter above what training showed."""
        found = {}
        for path, mode in _bounded(plan):
            seen = self.by_field.get(folded(path)) or self.by_mode.get(mode)
            default = MAX_ITEMS if mode == "array" else DEFAULT_MAX_LENGTH
            found[folded(path)] = math.ceil(seen * LENGTH_SLACK) if seen else default
        return found


def _bounded(plan: FillPlan) -> Iterator[tuple[Path, str]]:
    yield from ((leaf.path, leaf.mode) for leaf in plan.fields if leaf.mode in ("extract.span", "generate"))
    yield from ((array.path, "array") for array in plan.arrays)


@dataclass(frozen=True)
class Grammar:
    """text: what LLMatcher takes. relaxed: constraints that the engine cannot enforce and were left out."""

    text: str
    relaxed: tuple[str, ...]


def compile_grammar(schema: Mapping[str, Any], limits: Mapping[str, int], tokenizer: LLTokenizer) -> Grammar:
    """Grammar of compact JSON for a schema; limits come from ValueBounds.limits.

    Raises InputError when llguidance refuses the schema even without patterns and formats.
    """
    relaxed: set[str] = set()
    problem = ""
    for left_out in ((), ("pattern",), ("pattern", "format")):
        strict = _strict(_inlined(schema, schema), limits, "", frozenset(left_out), relaxed)
        text = LLMatcher.grammar_from_json_schema(strict, defaults={"whitespace_flexible": False})
        failed, messages = LLMatcher.validate_grammar_with_warnings(text, tokenizer)
        if not failed:
            return Grammar(text, tuple(sorted(relaxed)))
        problem = "; ".join(messages)
    raise InputError(f"llguidance cannot compile the schema ({problem}); leave these records out of the baseline")


def plain_schema(schema: Any) -> Any:
    """The schema without x-* keywords, as the baseline's prompt shows it."""
    if isinstance(schema, list):
        return [plain_schema(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    named = {key: {name: plain_schema(child) for name, child in schema[key].items()} for key in _named(schema)}
    rest = {key: plain_schema(child) for key, child in schema.items() if not key.startswith("x-")}
    return rest | named


def _named(schema: Mapping[str, Any]) -> Iterable[str]:
    """Keywords whose keys are names, not keywords."""
    return (key for key in _CHILDREN if isinstance(schema.get(key), Mapping))


def _inlined(node: Any, root: Mapping[str, Any]) -> Any:
    """A copy with every local $ref replaced by its target, so that each place can have its own bounds."""
    if isinstance(node, list):
        return [_inlined(item, root) for item in node]
    if not isinstance(node, Mapping):
        return node
    if isinstance(node.get("$ref"), str):
        target = _target(root, node["$ref"])
        return _inlined(target | {key: value for key, value in node.items() if key != "$ref"}, root)
    return {key: _inlined(value, root) for key, value in node.items() if key not in ("$defs", "definitions")}


def _target(root: Mapping[str, Any], reference: str) -> dict[str, Any]:
    found = read_value(root, reference.removeprefix("#"), None)
    if not isinstance(found, Mapping):
        raise InputError(f"$ref {reference!r} does not lead to a schema; use a local reference such as #/$defs/name")
    return dict(found)


def _strict(
    node: Mapping[str, Any], limits: Mapping[str, int], place: str, left_out: frozenset[str], relaxed: set[str]
) -> dict[str, Any]:
    """A node with closed objects and bounded strings, arrays and numbers; place is its folded pointer."""
    kept = {}
    for key, value in node.items():
        if key in left_out or key in _DROPPED:
            if key in left_out or key == "uniqueItems":
                relaxed.add(f"{place}: {key}")
        elif not key.startswith("x-"):
            kept[key] = value
    for key in _BRANCHES:
        if key in kept:
            branches = kept.pop(key)
            kept["anyOf"] = [_strict(branch, limits, place, left_out, relaxed) for branch in branches]
    types = kept.get("type")
    types = {types} if isinstance(types, str) else set(types or ())
    if "object" in types:
        children = kept.get("properties", {})
        kept["properties"] = {
            name: _strict(child, limits, f"{place}/{escape(name)}", left_out, relaxed)
            for name, child in children.items()
        }
        kept["additionalProperties"] = False
    if "array" in types:
        kept["items"] = _strict(kept["items"], limits, f"{place}/*", left_out, relaxed)
        kept.setdefault("maxItems", max(limits.get(place, MAX_ITEMS), kept.get("minItems", 0)))
    if "string" in types and "enum" not in kept and kept.get("format") not in ("date", "date-time", "uuid"):
        kept.setdefault("maxLength", max(limits.get(place, DEFAULT_MAX_LENGTH), kept.get("minLength", 0)))
    if types & {"integer", "number"} and "enum" not in kept:
        _bound_number(kept, whole="integer" in types)
    return kept


def _bound_number(node: dict[str, Any], whole: bool) -> None:
    if "maximum" not in node and "exclusiveMaximum" not in node:
        node["maximum"] = MAX_MAGNITUDE
    if "minimum" not in node and "exclusiveMinimum" not in node:
        node["minimum"] = -MAX_MAGNITUDE
    if not whole:
        node.setdefault("multipleOf", NUMBER_STEP)
