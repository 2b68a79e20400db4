"""Schemas whose leaves know their fact: from one set of facts to a JSON Schema, its value and its spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deg_core.generator.draw import Draw
from deg_core.generator.text import Span


@dataclass(frozen=True)
class Node:
    """A place of a schema.

    key: the fact of a leaf or the array's facts (`key/0`, `key/0/name`); "" for an object.
    schema: its JSON Schema without children. properties, item: its children.
    labels: how a choice calls the fact's values. optional: left out of `required`.
    copied: an extract leaf, whose value needs a span. core: never dropped from a variant.
    """

    key: str
    schema: Mapping[str, Any]
    properties: Mapping[str, Node] = field(default_factory=dict)
    item: Node | None = None
    labels: Mapping[Any, Any] = field(default_factory=dict)
    optional: bool = False
    copied: bool = False
    core: bool = False


def _described(schema: dict[str, Any], description: str | None) -> dict[str, Any]:
    return schema | ({"description": description} if description else {})


def _leaf(key: str, kind: str, description: str | None, null: bool, optional: bool, **keywords: Any) -> Node:
    schema = {"type": [kind, "null"] if null else kind, **keywords}
    return Node(key, _described(schema, description), optional=optional, copied=True)


def text(key: str, description: str | None = None, *, null: bool = False, optional: bool = False, **more: Any) -> Node:
    """A string copied verbatim; keywords such as format and pattern in `more`."""
    return _leaf(key, "string", description, null, optional, **more)


def number(
    key: str, description: str | None = None, *, null: bool = False, optional: bool = False, **more: Any
) -> Node:
    """A number copied from the text."""
    return _leaf(key, "number", description, null, optional, **more)


def integer(
    key: str, description: str | None = None, *, null: bool = False, optional: bool = False, **more: Any
) -> Node:
    """A whole number copied from the text."""
    return _leaf(key, "integer", description, null, optional, **more)


def day(key: str, description: str | None = None, *, null: bool = False, optional: bool = False) -> Node:
    """A date copied from the text."""
    return _leaf(key, "string", description, null, optional, format="date")


def moment(key: str, description: str | None = None, *, null: bool = False, optional: bool = False) -> Node:
    """A date-time copied from the text."""
    return _leaf(key, "string", description, null, optional, format="date-time")


def yes_no(key: str, description: str | None = None, *, null: bool = False) -> Node:
    """A boolean; with null a choice of three."""
    return Node(key, _described({"type": ["boolean", "null"] if null else "boolean"}, description))


def scale(
    key: str, low: int, high: int, description: str | None = None, *, levels: Mapping[int, str] | None = None
) -> Node:
    """A small integer scale, with a text for some levels."""
    schema: dict[str, Any] = {"type": "integer", "minimum": low, "maximum": high}
    if levels:
        schema["x-levels"] = {str(level): label for level, label in levels.items()}
    return Node(key, _described(schema, description))


def choice(key: str, labels: Mapping[Any, Any], description: str | None = None, *, null: bool = False) -> Node:
    """A choice. labels: fact value -> option, or -> (option, its description) for the oneOf form."""
    if any(isinstance(label, tuple) for label in labels.values()):
        branches = [{"const": name, "description": note} for name, note in labels.values()]
        if null:
            branches.append({"const": None, "description": "Not stated."})
        schema: dict[str, Any] = {"oneOf": branches}
        names = {value: label[0] for value, label in labels.items()}
    else:
        schema = {"enum": [*labels.values(), *([None] if null else [])]}
        names = dict(labels)
    return Node(key, _described(schema, description), labels={**names, **({None: None} if null else {})})


def written(key: str, description: str, *, max_tokens: int = 48) -> Node:
    """A sentence to write."""
    schema = {"type": "string", "description": description, "x-generate": True, "x-max-tokens": max_tokens}
    return Node(key, schema)


def group(properties: Mapping[str, Node], description: str | None = None) -> Node:
    """A nested object."""
    return Node("", _described({"type": "object"}, description), properties=properties)


def items(key: str, item: Node, description: str | None = None, *, most: int | None = 8) -> Node:
    """An array of leaves or objects."""
    schema: dict[str, Any] = {"type": "array"} | ({"maxItems": most} if most is not None else {})
    return Node(key, _described(schema, description), item=item, core=True)


def core(node: Node) -> Node:
    """The node, kept in every draw of its variant."""
    return replace(node, core=True)


WRITTEN_SHARE = 0.5
DROPPED_SHARE = 0.12
PRINT_STYLE = ("currency",)  # facts that no sentence states: how values are printed decides them


def thin_out(root: Node, draw: Draw) -> Node:
    """A variant as one document asks it: a few leaves dropped, sentences to write kept in part."""
    kept: dict[str, Node] = {}
    for name, node in root.properties.items():
        if node.schema.get("x-generate"):
            keep = draw.chance(WRITTEN_SHARE)
        else:
            keep = node.core or bool(node.properties) or not draw.chance(DROPPED_SHARE)
        if keep:
            kept[name] = node
    return replace(root, properties=kept)


def decisions(variants: Sequence[Node], draw: Draw) -> Node:
    """All that sentences decide outside arrays, each property name once, in an order of the document's own."""
    found: dict[str, Node] = {}
    waiting = list(variants)
    while waiting:
        for name, node in waiting.pop(0).properties.items():
            if node.properties:
                waiting.append(node)
            elif node.item is None and not (node.copied or node.schema.get("x-generate") or node.key in PRINT_STYLE):
                found.setdefault(name, node)
    return group({name: found[name] for name in draw.shuffled(tuple(found))})


def with_every_list(root: Node, variants: Sequence[Node]) -> Node:
    """The root with the arrays that the variants ask for beside its own, each property name once."""
    lists = {name: node for variant in variants for name, node in variant.properties.items() if node.item is not None}
    return replace(root, properties={**lists, **root.properties})


def json_schema(node: Node) -> dict[str, Any]:
    """The JSON Schema of a node and its children."""
    schema = dict(node.schema)
    if node.item is not None:
        return schema | {"items": json_schema(node.item)}
    if node.schema.get("type") != "object":
        return schema
    schema["properties"] = {name: json_schema(child) for name, child in node.properties.items()}
    required = [name for name, child in node.properties.items() if not child.optional]
    return schema | ({"required": required} if required else {})


class Answer:
    """The gold value of a schema, with the places of its copied leaves.

    value: JSON. spans: concrete pointer -> all its places in the text.
    Raises ValueError when a fact is missing, is null where the schema forbids it, or stands nowhere.
    """

    def __init__(self, root: Node, facts: Mapping[str, Any], places: Mapping[str, list[Span]]):
        self._facts = facts
        self._places = places
        self.spans: dict[str, list[Span]] = {}
        self.value = self._object(root, "", "")

    def _object(self, node: Node, key: str, pointer: str) -> dict[str, Any]:
        value = {}
        for name, child in node.properties.items():
            child_key = f"{key}/{child.key}" if key and child.key else key or child.key
            if child.optional and self._fact(child_key) is None:
                continue
            value[name] = self._any(child, child_key, f"{pointer}/{name}")
        return value

    def _any(self, node: Node, key: str, pointer: str) -> Any:
        if node.item is not None:
            count = self._fact(key)
            keys = [f"{key}/{i}/{node.item.key}".removesuffix("/") for i in range(count)]
            return [self._any(node.item, item_key, f"{pointer}/{i}") for i, item_key in enumerate(keys)]
        if node.schema.get("type") == "object":
            return self._object(node, key, pointer)
        return self._leaf(node, key, pointer)

    def _leaf(self, node: Node, key: str, pointer: str) -> Any:
        value = self._fact(key)
        if node.labels:
            if value not in node.labels:
                raise ValueError(f"fact {key!r} is {value!r}, none of the labels of {pointer}")
            return node.labels[value]
        if value is None and "null" not in node.schema["type"]:
            raise ValueError(f"fact {key!r} is absent, but {pointer} of the schema allows no null")
        if node.copied and value is not None:
            if key not in self._places:
                raise ValueError(f"fact {key!r} of {pointer} is not printed in the text")
            self.spans[pointer] = self._places[key]
        return value

    def _fact(self, key: str) -> Any:
        if key not in self._facts:
            raise ValueError(f"the document states no fact {key!r}")
        return self._facts[key]
