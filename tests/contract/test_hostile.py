"""Hostile and real schemas end in a plan or a SchemaError, never in another exception."""

import json
import os
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deg_core.contract import SchemaError, compile_schema

SHARED = Path(os.environ.get("DEG_SHARED_DATA", Path(__file__).parents[2].parent / "shared" / "data"))


def nested(levels, wrap, inner):
    for _ in range(levels):
        inner = wrap(inner)
    return {"type": "object", "properties": {"f": inner}}


def as_object(inner):
    return {"type": "object", "properties": {"a": inner}}


def as_array(inner):
    return {"type": "array", "items": inner}


def as_union(inner):
    return {"anyOf": [inner, {"type": "null"}]}


def as_negation(inner):
    return {"not": inner}


@pytest.mark.parametrize("wrap", [as_object, as_array])
def test_depth_up_to_the_limit_compiles(wrap):
    assert len(compile_schema(nested(60, wrap, {"type": "string"})).fields) == 1


@pytest.mark.parametrize("wrap", [as_object, as_array, as_union, as_negation])
@pytest.mark.parametrize("levels", [70, 150, 5000])
def test_deeper_is_refused(wrap, levels):
    with pytest.raises(SchemaError):
        compile_schema(nested(levels, wrap, {"type": "string"}))


def test_a_python_cycle_is_refused():
    schema = {"type": "object", "properties": {}}
    schema["properties"]["me"] = schema
    with pytest.raises(SchemaError, match="nested deeper"):
        compile_schema(schema)


@pytest.mark.parametrize("leaf", [{"type": "string"}, {"type": "object"}])
def test_exponential_references_are_refused(leaf):
    defs = {"d0": leaf}
    for level in range(1, 40):
        ref = {"$ref": f"#/$defs/d{level - 1}"}
        defs[f"d{level}"] = {"type": "object", "properties": {"x": ref, "y": ref}}
    with pytest.raises(SchemaError, match="split the schema"):
        compile_schema({"type": "object", "$defs": defs, "properties": {"f": {"$ref": "#/$defs/d39"}}})


def test_mutual_recursion_is_refused():
    defs = {name: {"type": "array", "items": {"$ref": f"#/$defs/{other}"}} for name, other in ("ab", "bc", "ca")}
    with pytest.raises(SchemaError, match="recursive"):
        compile_schema({"type": "object", "$defs": defs, "properties": {"f": {"$ref": "#/$defs/a"}}})


def test_a_reference_loop_without_a_schema_is_refused():
    defs = {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}
    with pytest.raises(SchemaError, match="recursive"):
        compile_schema({"type": "object", "$defs": defs, "properties": {"f": {"$ref": "#/$defs/a"}}})


@pytest.mark.parametrize(
    "leaf",
    [
        {"type": "number", "minimum": float("nan")},
        {"type": "number", "maximum": float("inf")},
        {"type": "number", "maximum": 10**5000},
        {"type": "string", "title": "\ud800"},
        {"type": "string", "default": {1: 2}},
        {"type": "string", "default": {1, 2}},
        {"type": "string", "pattern": "(" * 3000},
        {"type": "string", "pattern": "(a" * 3000 + ")" * 3000},
        {"type": "string", "minLength": "x"},
        {"enum": 5},
        {"oneOf": []},
        {"oneOf": "x"},
        {"oneOf": [5, True]},
        {"$ref": 5},
        {"$ref": "#/%ff"},
        {"$ref": "#/~2"},
        {"type": [], "enum": [1, 2]},
        {"type": "object", "properties": []},
        {"type": "object", "required": "x"},
        {"type": "array", "items": 5},
        {"$schema": "http://json-schema.org/draft-04/schema#", "type": "string", "maxLength": None},
    ],
)
def test_malformed_leaves_are_refused(leaf):
    with pytest.raises(SchemaError):
        compile_schema({"type": "object", "properties": {"f": leaf}})


def test_too_many_fields_are_refused():
    wide = {f"f{i}": {"type": "string"} for i in range(150)}
    defs = {"w": {"type": "object", "properties": wide}}
    groups = {f"g{i}": {"$ref": "#/$defs/w"} for i in range(150)}
    with pytest.raises(SchemaError, match="more than 20,000 fields"):
        compile_schema({"type": "object", "$defs": defs, "properties": groups})


KEYWORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "$ref",
        "$defs",
        "$id",
        "$schema",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minLength",
        "pattern",
        "format",
        "minItems",
        "maxItems",
        "uniqueItems",
        "additionalProperties",
        "title",
        "x-generate",
        "x-max-tokens",
        "x-levels",
        "allOf",
    ]
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.floats(allow_nan=True),
    st.sampled_from(
        ["object", "array", "string", "integer", "number", "null", "boolean", "date", "#", "#/$defs/a", "a", ""]
    ),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS | st.just("a"), inner, max_size=4),
    max_leaves=14,
)


@given(JSON)
@settings(max_examples=400, deadline=None)
def test_any_json_compiles_or_is_refused(body):
    schema = {"type": "object", "properties": {"a": body, "b": {"type": "array", "items": body}}, "$defs": {"a": body}}
    before = json.dumps(schema, allow_nan=True)
    try:
        plan = compile_schema(schema)
    except SchemaError as error:
        assert error.problems
    else:
        assert plan.fingerprint == compile_schema(schema).fingerprint
    assert json.dumps(schema, allow_nan=True) == before


@pytest.mark.skipif(not (SHARED / "jsonschema").is_dir(), reason="no shared data")
@pytest.mark.parametrize("name", ["test_suite.jsonl", "maskbench_sample.jsonl"])
def test_real_schemas_compile_or_are_refused(name):
    compiled = refused = 0
    for line in (SHARED / "jsonschema" / name).read_text().splitlines():
        schema = json.loads(line)["schema"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                compile_schema(schema)
                compiled += 1
            except SchemaError as error:
                assert all(problem.msg for problem in error.problems)
                refused += 1
    assert compiled and refused
