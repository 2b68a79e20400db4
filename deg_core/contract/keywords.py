"""Which keywords a schema may use, and what to say about the others (contract sections 2 and 5)."""

from __future__ import annotations

import difflib
from typing import Final

ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "examples", "$comment", "readOnly", "writeOnly", "deprecated"}
    | {"$schema", "$id", "$anchor", "$defs", "definitions"}
)
COMBINATORS: Final = ("anyOf", "oneOf")
NUMBER_KEYWORDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
STRING_KEYWORDS: Final = ("minLength", "maxLength", "pattern")
FORMATS: Final = ("date", "date-time", "email", "uri", "uuid")
EXTENSIONS: Final = ("x-generate", "x-max-tokens", "x-levels")

BY_TYPE: Final[dict[str, frozenset[str]]] = {
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
    "string": frozenset({*STRING_KEYWORDS, "format"}),
    "number": frozenset(NUMBER_KEYWORDS),
    "integer": frozenset(NUMBER_KEYWORDS),
    "boolean": frozenset(),
}
LEAF_TYPES: Final = ("string", "number", "integer", "boolean")
SUBSCHEMA_KEYWORDS: Final = frozenset({"properties", "items", *COMBINATORS, "$defs", "definitions"})

_COUNTED_KEYS = "the keys that deg emits are fixed by the schema; remove it"
_CONDITION = "deg fills every field by itself, without conditions between fields; remove it"
_OPEN_KEYS = "key names must be known; list them in properties"
_TUPLE = "every item of an array has one schema; use an object for named positions"
_ENCODING = "deg fills plain text; remove it"
_DYNAMIC = "use a local, non-recursive $ref"
UNSUPPORTED: Final[dict[str, str]] = {
    "allOf": "merge its branches into one schema",
    "not": "state what is allowed instead, for example with enum",
    "if": _CONDITION,
    "then": _CONDITION,
    "else": _CONDITION,
    "const": "a single value has nothing to decide; leave the field out or use an enum of at least 2 values",
    "dependentSchemas": _CONDITION,
    "dependentRequired": _CONDITION,
    "dependencies": _CONDITION,
    "patternProperties": _OPEN_KEYS,
    "propertyNames": _OPEN_KEYS,
    "unevaluatedProperties": "use additionalProperties: false",
    "minProperties": _COUNTED_KEYS,
    "maxProperties": _COUNTED_KEYS,
    "unevaluatedItems": _TUPLE,
    "prefixItems": _TUPLE,
    "additionalItems": _TUPLE,
    "contains": "give the array an items schema with minItems and maxItems",
    "minContains": "give the array an items schema with minItems and maxItems",
    "maxContains": "give the array an items schema with minItems and maxItems",
    "$dynamicRef": _DYNAMIC,
    "$dynamicAnchor": _DYNAMIC,
    "$recursiveRef": _DYNAMIC,
    "$recursiveAnchor": _DYNAMIC,
    "contentEncoding": _ENCODING,
    "contentMediaType": _ENCODING,
    "contentSchema": _ENCODING,
}

_KNOWN: Final = frozenset(
    {"type", "enum", "$ref", *COMBINATORS, *EXTENSIONS, *ANNOTATIONS, *UNSUPPORTED}.union(*BY_TYPE.values())
)


def refusal(keyword: str, place: str) -> str:
    """Why a keyword is refused in a place such as "type integer", and what to write instead."""
    if keyword in UNSUPPORTED:
        return f"{keyword} is not supported: {UNSUPPORTED[keyword]}"
    if keyword in _KNOWN:
        owners = [name for name, keywords in BY_TYPE.items() if keyword in keywords]
        hint = f" (it belongs to {', '.join(owners)})" if owners else ""
        return f"{keyword} does not apply to {place}{hint}; remove it"
    near = difflib.get_close_matches(keyword, EXTENSIONS if keyword.startswith("x-") else sorted(_KNOWN), n=1)
    advice = f"did you mean {near[0]}?" if near else "remove it"
    if keyword.startswith("x-"):
        return f"unknown extension {keyword}: {advice} (there are {', '.join(EXTENSIONS)})"
    return f"unknown keyword {keyword}: {advice}"
