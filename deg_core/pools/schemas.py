"""Schemas of records, compiled once each, with the check of the values filled in."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jsonschema.protocols import Validator

from deg_core.contract.drafts import draft_of
from deg_core.contract.errors import Problem, SchemaError
from deg_core.contract.plan import FillPlan
from deg_core.contract.pointer import join
from deg_core.contract.schema import compile_schema
from deg_core.contract.validation import validator_of

SHOWN_MESSAGE = 200


@dataclass
class CompiledSchema:
    """A schema's plan, or the problems that keep it from having one (plan is None then)."""

    schema: Mapping[str, Any]
    plan: FillPlan | None
    problems: tuple[Problem, ...] = ()

    @cached_property
    def _validator(self) -> Validator:
        return validator_of(self.schema, draft_of(self.schema))

    def value_problems(self, value: Any) -> list[Problem]:
        """Where a value is refused by the schema; empty when it is valid."""
        errors = self._validator.iter_errors(value)
        found = sorted((join(error.absolute_path), error.message) for error in errors)
        return [Problem(loc, _short(message)) for loc, message in found]


class Schemas:
    """Compiled schemas by their text; the least recently used leave when there are more than `keep`."""

    def __init__(self, keep: int = 4096):
        self._keep = keep
        self._compiled: OrderedDict[str, CompiledSchema] = OrderedDict()

    def compile(self, schema: Any) -> CompiledSchema:
        """The compiled form of a schema read from JSON; a bad one has its problems in the answer."""
        text = json.dumps(schema)
        found = self._compiled.get(text)
        if found is not None:
            self._compiled.move_to_end(text)
            return found
        found = self._compiled[text] = _compile(schema)
        if len(self._compiled) > self._keep:
            self._compiled.popitem(last=False)
        return found


def _compile(schema: Any) -> CompiledSchema:
    if not isinstance(schema, Mapping):
        return CompiledSchema({}, None, (Problem("", "a schema is a JSON object"),))
    try:
        return CompiledSchema(schema, compile_schema(schema))
    except SchemaError as error:
        return CompiledSchema(schema, None, tuple(error.problems))


def _short(message: str) -> str:
    return message if len(message) <= SHOWN_MESSAGE else f"{message[:SHOWN_MESSAGE]}..."
