"""Coverage-guided fuzzing of the schema compiler, the patterns and the value grammars: only our own errors may come out.

    pip install atheris && python tests/fuzz.py -max_total_time=600

Arguments are libFuzzer's. It ends with an error at the first input that raises anything else, or that gives a candidate
which is not in the text.
"""

from __future__ import annotations

import sys
from typing import Any

import atheris

with atheris.instrument_imports(include=["deg_core.contract", "deg_core.values"]):
    from deg_core.config import FillOptions
    from deg_core.contract import SchemaError, compile_schema
    from deg_core.contract.patterns import Pattern, PatternError
    from deg_core.values import find_candidates, parse_date, parse_datetime, parse_number, trim_span, violated

KEYS = [
    "type",
    "properties",
    "items",
    "enum",
    "anyOf",
    "oneOf",
    "$ref",
    "$defs",
    "definitions",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "multipleOf",
    "pattern",
    "format",
    "required",
    "x-generate",
    "x-levels",
    "x-max-tokens",
    "minItems",
    "maxItems",
    "minLength",
    "uniqueItems",
    "$schema",
    "$id",
    "$anchor",
    "id",
    "title",
    "const",
    "additionalProperties",
    "a",
    "b",
]
VALUES: list[Any] = [
    *("object", "array", "string", "integer", "number", "boolean", "null", "date", "date-time", "email", "uri", "uuid"),
    *(
        "#",
        "#/$defs/a",
        "#x",
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2020-12/schema",
    ),
    *(True, False, None, 0, 1, -1, 2.5, 10, 1e308, "(a+)+$", "[a-z]{2}", ["string", "null"], ["a", "b", None]),
]
PIECES = [
    *"0123456789.,-+/:() \n%$\u20ac\u00a3\u00bd'\u2019\u2212\u00a0",
    "May",
    "mar",
    "Mai",
    " de ",
    "million",
    "twenty-",
    "and",
    *("pm", "UTC", "T", "Z", "@", "a.b", "http://", "e-9", "EUR", "USD ", "st", "2026", "2026-03-05", "10:00", "(1.5)"),
]
LEAVES = [
    compile_schema({"type": "object", "properties": {"x": leaf}}).fields[0]
    for leaf in (
        {"type": "number", "multipleOf": 0.01, "minimum": -1e9},
        {"type": "integer", "exclusiveMaximum": 10**6},
        *({"type": "string", "format": name} for name in ("date", "date-time", "email", "uri", "uuid")),
        {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "[a-z]+[0-9]"},
    )
]


def schema_of(data: atheris.FuzzedDataProvider, depth: int = 0) -> Any:
    """A JSON value of keywords and what they take, mostly in wrong places."""
    kind = data.ConsumeIntInRange(0, 5)
    if depth > 5 or kind < 2:
        return data.PickValueInList(VALUES)
    if kind == 2:
        return [schema_of(data, depth + 1) for _ in range(data.ConsumeIntInRange(0, 3))]
    pairs = range(data.ConsumeIntInRange(0, 5))
    return {data.PickValueInList(KEYS): schema_of(data, depth + 1) for _ in pairs}


def compiler(data: atheris.FuzzedDataProvider) -> None:
    """A schema compiles or is refused with a place and a reason."""
    schema = {
        "type": "object",
        "properties": {"a": schema_of(data), "b": schema_of(data)},
        "$defs": {"a": schema_of(data)},
    }
    try:
        compile_schema(schema)
    except SchemaError as error:
        assert error.problems
        assert all(problem.msg for problem in error.problems)


def patterns(data: atheris.FuzzedDataProvider) -> None:
    """A pattern is refused or searched; what is found is also possible."""
    try:
        pattern = Pattern(data.ConsumeUnicodeNoSurrogates(30))
    except PatternError:
        return
    text = data.ConsumeUnicodeNoSurrogates(20)
    assert not pattern.found_in(text) or pattern.may_be_found_in(text)


def grammars(data: atheris.FuzzedDataProvider) -> None:
    """Every candidate lies in its text; what is wrong with it, if anything, has a name."""
    if data.ConsumeBool():
        text = "".join(data.PickValueInList(PIECES) for _ in range(data.ConsumeIntInRange(0, 24)))
    else:
        text = data.ConsumeUnicodeNoSurrogates(60)
    options = FillOptions(
        date_order=data.PickValueInList([None, "MDY", "DMY"]),
        default_offset=data.PickValueInList([None, "Z", "+05:30"]),
    )
    field = data.PickValueInList(LEAVES)
    if field.mode != "extract.span" or field.format is not None:
        for candidate in find_candidates(field, text, options):
            assert 0 <= candidate.start < candidate.end <= len(text)
            assert violated(field, candidate.value) in {None, "type", "format", *field.constraints}, candidate
    parse_number(text)
    parse_date(text, options.date_order)
    parse_datetime(text, options.date_order, options.default_offset)
    start, end = trim_span(text, 0, len(text))
    assert 0 <= start <= end <= len(text)


def one(data: bytes) -> None:
    """One input of the fuzzer."""
    provider = atheris.FuzzedDataProvider(data)
    provider.PickValueInList([compiler, patterns, grammars, grammars])(provider)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
