"""Places in a schema document, and local references between them (contract section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import unquote

from deg_core.contract.keywords import ANNOTATIONS
from deg_core.contract.pointer import escape, split

MAX_CHAIN: Final = 64


@dataclass(frozen=True)
class Place:
    """A schema and where it lies.

    base: the location of the resource that "#" means here. id_keyword: what names a resource in its draft.
    """

    schema: Any
    loc: str
    base: str = ""
    id_keyword: str = "$id"

    @property
    def annotations(self) -> frozenset[str]:
        """The keywords that say nothing about the value."""
        return ANNOTATIONS if self.id_keyword in ANNOTATIONS else ANNOTATIONS | {self.id_keyword}

    def child(self, *steps: str | int) -> Place:
        """The schema below, by key or index."""
        schema, loc = self.schema, self.loc
        for step in steps:
            schema, loc = schema[step], f"{loc}/{escape(str(step))}"
        return Place(schema, loc, loc if self._is_resource(schema) else self.base, self.id_keyword)

    def _is_resource(self, schema: Any) -> bool:
        name = schema.get(self.id_keyword) if isinstance(schema, dict) and "$ref" not in schema else None
        return isinstance(name, str) and not name.startswith("#")


class RefError(ValueError):
    """A reference that cannot be followed; loc: the $ref keyword."""

    def __init__(self, loc: str, msg: str):
        self.loc, self.msg = loc, msg
        super().__init__(f"{loc}: {msg}")


@dataclass(frozen=True)
class Target:
    """What a schema says once its references are followed.

    place: the first schema without $ref. annotations: title and description found on the way, the
    outermost first. visited: the locations passed, the target's included.
    """

    place: Place
    annotations: dict[str, Any]
    visited: tuple[str, ...]


def follow(place: Place, document: dict[str, Any], active: frozenset[str]) -> Target:
    """Follow `$ref` until a schema without one. active: locations being compiled (a target among them recurs).

    Raises RefError for a reference that is not local, is dangling, recurs or has siblings that are no annotations.
    """
    annotations: dict[str, Any] = {}
    visited = [place.loc]
    while isinstance(place.schema, dict) and "$ref" in place.schema:
        for keyword, value in place.schema.items():
            if not (keyword == "$ref" or keyword in place.annotations or (keyword == "x-generate" and value is False)):
                raise RefError(
                    f"{place.loc}/{escape(keyword)}",
                    f"{keyword} beside $ref: only annotations may stand there; move it into the referenced schema",
                )
        annotations = {**place.schema, **annotations}
        loc = f"{place.loc}/$ref"
        place = _resolve(place, loc, document)
        if place.loc in active or place.loc in visited:
            raise RefError(loc, "recursive $ref: the depth of the value would be unknown; write the levels out")
        if len(visited) > MAX_CHAIN:
            raise RefError(loc, f"more than {MAX_CHAIN} references in a row; point at the schema itself")
        visited.append(place.loc)
    kept: dict[str, Any] = {key: annotations[key] for key in ("title", "description") if key in annotations}
    return Target(place, kept, tuple(visited))


def _resolve(place: Place, loc: str, document: dict[str, Any]) -> Place:
    ref = place.schema["$ref"]
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        raise RefError(loc, f"$ref {str(ref)[:80]!r} is not local: write '#/$defs/<name>' and put the schema there")
    try:
        steps = split(unquote(ref[1:], errors="strict"))
    except (ValueError, UnicodeDecodeError) as error:
        raise RefError(loc, f"$ref {ref[:80]!r}: {error}") from error
    place = _root_of(place, document)
    for step in steps:
        if isinstance(place.schema, dict) and step in place.schema:
            place = place.child(step)
        elif isinstance(place.schema, list) and step.isascii() and step.isdigit() and int(step) < len(place.schema):
            place = place.child(int(step))
        else:
            raise RefError(loc, f"$ref {ref[:80]!r} points to nothing: there is no {step[:40]!r} in {place.loc or '#'}")
    return place


def _root_of(place: Place, document: dict[str, Any]) -> Place:
    """The resource that a place lies in."""
    root = replace(place, schema=document, loc="", base="")
    for step in split(place.base):
        root = root.child(int(step) if isinstance(root.schema, list) else step)
    return replace(root, base=place.base)


def prefixes(loc: str) -> Iterator[str]:
    """Every location above a location, itself included."""
    while loc:
        yield loc
        loc = loc[: loc.rindex("/")]
    yield ""
