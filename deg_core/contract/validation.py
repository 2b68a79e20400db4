"""Validators that agree with the rest of the contract: strict formats, exact multipleOf, patterns in linear time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from jsonschema import FormatChecker, validators
from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator

from deg_core.contract.formats import CHECKS
from deg_core.contract.patterns import pattern_of
from deg_core.contract.scales import exact


def _format_checker() -> FormatChecker:
    checker = FormatChecker(formats=())
    checker.checkers = {name: (_on_strings(is_format), ()) for name, is_format in CHECKS.items()}
    return checker


def _on_strings(is_format: Any) -> Any:
    return lambda value: not isinstance(value, str) or is_format(value)


def _multiple_of(validator: Validator, step: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    """multipleOf in decimal, as the standard defines it: 19.99 is a multiple of 0.01."""
    del schema
    if validator.is_type(value, "number") and exact(value) % exact(step) != 0:
        yield ValidationError(f"{value!r} is not a multiple of {step}")


def _pattern(validator: Validator, source: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    del schema
    if validator.is_type(value, "string") and not pattern_of(source).found_in(value):
        yield ValidationError(f"{value!r} does not match {source!r}")


@cache
def _exact_class(draft: type[Validator]) -> type[Validator]:
    return validators.extend(draft, {"multipleOf": _multiple_of, "pattern": _pattern})


_FORMATS = _format_checker()


def validator_of(schema: Mapping[str, Any], draft: type[Validator]) -> Validator:
    """A validator of values against a schema that is known to be valid in its draft."""
    # a class is hashable, which mypy does not see behind a protocol with members
    return _exact_class(draft)(schema, format_checker=_FORMATS)  # type: ignore[arg-type]
