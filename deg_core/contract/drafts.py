"""JSON Schema drafts: which one a schema is written in, and whether it is valid there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from deg_core.contract.errors import Problem, SchemaError
from deg_core.contract.pointer import join

DRAFTS: Mapping[str, type[Validator]] = {
    "http://json-schema.org/draft-04/schema": validators.Draft4Validator,
    "http://json-schema.org/draft-06/schema": validators.Draft6Validator,
    "http://json-schema.org/draft-07/schema": validators.Draft7Validator,
    "https://json-schema.org/draft/2019-09/schema": validators.Draft201909Validator,
    "https://json-schema.org/draft/2020-12/schema": validators.Draft202012Validator,
}
_LONGEST_QUOTE = 120


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


def metaschema_problems(schema: Mapping[str, Any], draft: type[Validator]) -> list[Problem]:
    """Where a document is no valid schema of its draft, in document order."""
    try:
        errors = list(draft(draft.META_SCHEMA).iter_errors(schema))
    except RecursionError:
        return [Problem("", "nested too deeply to be checked; flatten the schema")]
    return [Problem(join(error.absolute_path), _message(error)) for error in errors]


def _message(error: ValidationError) -> str:
    if error.absolute_path and error.absolute_path[-1] == "items" and isinstance(error.instance, list):
        return "tuple items are not supported: every item of an array has one schema"
    text = error.message if len(error.message) <= _LONGEST_QUOTE else f"{error.message[:_LONGEST_QUOTE]}..."
    return f"not a valid JSON Schema: {text}"
