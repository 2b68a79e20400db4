"""JSON Schema drafts: which one a schema is written in, and whether it is valid there."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

from jsonschema import validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from jsonschema_specifications import REGISTRY

from deg_core.contract.errors import Problem, SchemaError
from deg_core.contract.pointer import join

DRAFTS: Mapping[str, type[Validator]] = {
    "http://json-schema.org/draft-04/schema": validators.Draft4Validator,
    "http://json-schema.org/draft-06/schema": validators.Draft6Validator,
    "http://json-schema.org/draft-07/schema": validators.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": validators.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": validators.Draft202012Validator,
}
_LONGEST_QUOTE: Final = 120
_ANY_OWN_KIND: Final = ({"$dynamicRef": "#meta"}, {"$recursiveRef": "#"})


def draft_of(schema: Mapping[str, Any]) -> type[Validator]:
    """The validator class of the draft that `$schema` names; draft 2020-12 when it is absent.

    Raises SchemaError when `$schema` names no known draft.
    """
    named = schema.get("$schema")
    if named is None:
        return validators.Draft202012Validator
    key = named.rstrip("#") if isinstance(named, str) else ""
    if key not in DRAFTS:
        raise SchemaError([Problem("/$schema", f"unknown draft {str(named)[:80]!r}; use one of {', '.join(DRAFTS)}")])
    return DRAFTS[key]


def id_keyword_of(draft: type[Validator]) -> str:
    """What names a resource in a draft."""
    return "id" if draft is validators.Draft4Validator else "$id"


def metaschema_problems(schema: Mapping[str, Any], draft: type[Validator]) -> list[Problem]:
    """Where a document is no valid schema of its draft, in document order."""
    try:
        # a class is hashable, which mypy does not see behind a protocol with members
        errors = list(_metaschema_validator(draft).iter_errors(schema))  # type: ignore[arg-type]
    except RecursionError:
        return [Problem("", "nested too deeply to be checked; flatten the schema")]
    return [Problem(join(error.absolute_path), _message(error)) for error in errors]


@cache
def _metaschema_validator(draft: type[Validator]) -> Validator:
    metaschema = draft.META_SCHEMA
    return draft(_flat(metaschema) if "$vocabulary" in metaschema else metaschema)


def _flat(metaschema: Mapping[str, Any]) -> dict[str, Any]:
    """A metaschema with its vocabularies in one schema: it admits the same, without dynamic references to follow."""
    resolver = REGISTRY.resolver(base_uri=metaschema["$id"])
    parts = [metaschema, *(resolver.lookup(part["$ref"]).contents for part in metaschema["allOf"])]
    merged = {
        "type": metaschema["type"],
        "properties": {name: rule for part in parts for name, rule in part.get("properties", {}).items()},
        "$defs": {name: rule for part in parts for name, rule in part.get("$defs", {}).items()},
    }
    return _with_local_references(merged)


def _with_local_references(rule: Any) -> Any:
    if isinstance(rule, list):
        return [_with_local_references(item) for item in rule]
    if not isinstance(rule, dict):
        return rule
    if rule.get("$dynamicRef") == "#meta" or rule.get("$recursiveRef") == "#":
        return {"$ref": "#"}
    local = {name: _with_local_references(item) for name, item in rule.items()}
    if isinstance(rule.get("$ref"), str):
        local["$ref"] = f"#{rule['$ref'].partition('#')[2]}"
    return local


def _message(error: ValidationError) -> str:
    if error.absolute_path and error.absolute_path[-1] == "items" and isinstance(error.instance, list):
        return "tuple items are not supported: every item of an array has one schema"
    text = error.message if len(error.message) <= _LONGEST_QUOTE else f"{error.message[:_LONGEST_QUOTE]}..."
    return f"not a valid JSON Schema: {text}"
