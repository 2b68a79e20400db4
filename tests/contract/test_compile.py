"""Contract sections 2 to 5, row by row."""

import copy

import pytest

from deg_core.contract import ITEM, SchemaError, compile_schema

DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def leaf(schema, required=True):
    root = {"type": "object", "properties": {"f": schema}}
    return compile_schema({**root, "required": ["f"]} if required else root).fields[0]


def problems(schema):
    with pytest.raises(SchemaError) as caught:
        compile_schema(schema)
    return {problem.loc: problem.msg for problem in caught.value.problems}


def refused(schema, loc, words):
    found = problems({"type": "object", "properties": {"f": schema}})
    assert f"/properties/f{loc}" in found, found
    assert words in found[f"/properties/f{loc}"]


@pytest.mark.parametrize(
    ("schema", "mode", "json_type"),
    [
        ({"enum": ["a", 1, None, True]}, "decide.choice", "enum"),
        ({"type": "string", "enum": ["a", "b"]}, "decide.choice", "enum"),
        ({"oneOf": [{"const": "a"}, {"const": "b"}]}, "decide.choice", "enum"),
        ({"anyOf": [{"enum": ["a", "b"]}, {"const": "c"}]}, "decide.choice", "enum"),
        ({"type": "boolean"}, "decide.noul", "boolean"),
        ({"type": ["boolean", "null"]}, "decide.choice", "enum"),
        ({"type": "integer", "minimum": 1, "maximum": 5}, "decide.score", "integer"),
        ({"type": "integer", "minimum": 0, "maximum": 10}, "decide.score", "integer"),
        ({"type": "integer", "minimum": 0, "maximum": 11}, "extract.number", "integer"),
        ({"type": "integer", "minimum": 0, "maximum": 100, "multipleOf": 25}, "decide.score", "integer"),
        ({"type": "integer", "minimum": 0}, "extract.number", "integer"),
        ({"type": "integer"}, "extract.number", "integer"),
        ({"type": "number", "minimum": 0, "maximum": 1}, "extract.number", "number"),
        ({"type": "string", "format": "date"}, "extract.date", "string"),
        ({"type": "string", "format": "date-time"}, "extract.date", "string"),
        ({"type": "string", "format": "email"}, "extract.span", "string"),
        ({"type": "string", "format": "uri"}, "extract.span", "string"),
        ({"type": "string", "format": "uuid"}, "extract.span", "string"),
        ({"type": "string"}, "extract.span", "string"),
        ({"type": "string", "x-generate": True, "minLength": 2, "pattern": "a"}, "generate", "string"),
        ({"type": "string", "x-generate": False}, "extract.span", "string"),
        ({"type": ["string"]}, "extract.span", "string"),
    ],
)
def test_mode_follows_from_type_and_keywords(schema, mode, json_type):
    field = leaf(schema)
    assert (field.mode, field.json_type, field.path) == (mode, json_type, ("f",))


def test_arrays_and_objects_are_walked_in_schema_order():
    plan = compile_schema(
        {
            "type": "object",
            "properties": {
                "z": {"type": "string"},
                "rows": {
                    "type": "array",
                    "title": "Rows",
                    "minItems": 1,
                    "maxItems": 4,
                    "uniqueItems": True,
                    "items": {
                        "type": "object",
                        "properties": {
                            "cells": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
                            "name": {"type": "string"},
                        },
                    },
                },
                "a": {"type": "object", "properties": {"b": {"type": "boolean"}}},
            },
        }
    )
    cells = ("rows", ITEM, "cells")
    assert [field.path for field in plan.fields] == [
        ("z",),
        (*cells, ITEM, ITEM),
        ("rows", ITEM, "name"),
        ("a", "b"),
    ]
    rows, outer, inner = plan.arrays
    assert (rows.min_items, rows.max_items, rows.unique_items, rows.title) == (1, 4, True, "Rows")
    assert rows.item_paths == ((*cells, ITEM, ITEM), ("rows", ITEM, "name"))
    assert (outer.path, inner.path, inner.max_items) == (cells, (*cells, ITEM), None)


def test_choice_outcomes_and_descriptions():
    field = leaf({"oneOf": [{"const": "a", "description": "first"}, {"enum": [2, None], "description": "other"}]})
    assert field.options == ("a", 2, None)
    assert field.option_descriptions == ("first", "other", "other")
    assert field.nullable and field.on_null == "null"
    assert leaf({"type": ["boolean", "null"]}).options == (True, False, None)
    assert leaf({"anyOf": [{"type": "null"}, {"enum": ["a", "b"]}]}).options == ("a", "b", None)
    assert leaf({"type": "string", "oneOf": [{"const": "a"}, {"const": "b"}]}).options == ("a", "b")
    assert leaf({"enum": [True, 1, "1"]}).options == (True, 1, "1")
    assert not leaf({"type": ["string", "null"], "enum": ["a", "b"]}).nullable


def test_score_levels_labels_and_null():
    field = leaf({"type": ["integer", "null"], "minimum": -1, "exclusiveMaximum": 2, "x-levels": {"-1": "bad"}})
    assert field.levels == (-1, 0, 1)
    assert field.level_labels == ("bad", None, None)
    assert field.outcomes == (-1, 0, 1, None)
    assert leaf({"type": "integer", "minimum": 0.5, "maximum": 7, "multipleOf": 1.5}).levels == (3, 6)
    assert leaf({"type": "integer", "exclusiveMinimum": 1.5, "maximum": 3.9}).levels == (2, 3)


def test_draft_4_exclusive_bounds():
    plan = compile_schema(
        {
            "$schema": DRAFT_4,
            "type": "object",
            "properties": {"f": {"type": "integer", "minimum": 0, "exclusiveMinimum": True, "maximum": 3}},
        }
    )
    assert plan.fields[0].levels == (1, 2, 3)


def test_id_names_a_schema_in_draft_4_only():
    item = {"id": "/properties/f", "type": "object", "definitions": {"t": {"id": "#t", "type": "number"}}}
    item["properties"] = {"id": {"$ref": "#/definitions/t"}, "c": {"id": "c", "enum": ["a", "b"]}}
    schema = {"$schema": DRAFT_4, "id": "root.json", "type": "object", "properties": {"f": item}}
    number, choice = compile_schema(schema).fields
    assert (number.path, number.mode, choice.options) == (("f", "id"), "extract.number", ("a", "b"))
    del schema["$schema"]
    assert {"/id", "/properties/f/id"} <= set(problems(schema))


@pytest.mark.parametrize(
    ("schema", "required", "nullable", "on_null"),
    [
        ({"type": "string"}, True, False, "forbid"),
        ({"type": "string"}, False, False, "omit"),
        ({"type": ["string", "null"]}, True, True, "null"),
        ({"type": ["null", "number"]}, False, True, "null"),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, False, True, "null"),
        ({"oneOf": [{"type": "null"}, {"type": "number"}]}, True, True, "null"),
    ],
)
def test_nullable_and_on_null(schema, required, nullable, on_null):
    field = leaf(schema, required)
    assert (field.nullable, field.on_null, field.required) == (nullable, on_null, required)


def test_required_looks_up_to_the_nearest_item():
    inner = {"type": "object", "required": ["k"], "properties": {"k": {"type": "string"}}}
    plan = compile_schema(
        {
            "type": "object",
            "required": ["must"],
            "properties": {"must": inner, "may": inner, "list": {"type": "array", "items": inner}},
        }
    )
    must, may, item = plan.fields
    assert (must.required, must.on_null) == (True, "forbid")
    assert (may.required, may.on_null, may.omit_path) == (False, "omit", ("may",))
    assert (item.required, item.on_null) == (True, "forbid")


def test_generate_on_arrays_and_token_budgets():
    text = {"type": "string"}
    plan = compile_schema(
        {
            "type": "object",
            "properties": {
                "a": {"type": "array", "x-generate": True, "x-max-tokens": 9, "items": text},
                "b": {"type": "array", "items": {"type": "string", "x-generate": True, "x-max-tokens": 5}},
                "c": {"type": "array", "x-generate": False, "items": text},
            },
        }
    )
    assert [(field.mode, field.max_tokens) for field in plan.fields] == [
        ("generate", 9),
        ("generate", 5),
        ("extract.span", None),
    ]


def test_annotations_reach_the_leaf_and_ref_siblings_override():
    plan = compile_schema(
        {
            "type": "object",
            "$defs": {"t": {"type": "string", "title": "T", "description": "inner"}},
            "properties": {
                "a": {"$ref": "#/$defs/t", "description": "outer"},
                "b": {"description": "maybe", "anyOf": [{"$ref": "#/$defs/t"}, {"type": "null"}]},
            },
        }
    )
    a, b = plan.fields
    assert (a.title, a.description) == ("T", "outer")
    assert (b.title, b.description, b.nullable) == ("T", "maybe", True)


def test_refs_are_local_and_may_chain():
    plan = compile_schema(
        {
            "$ref": "#/definitions/root",
            "definitions": {
                "root": {"type": "object", "properties": {"a~b/c": {"$ref": "#/definitions/x~1y"}}},
                "x/y": {"$ref": "#/definitions/p%25"},
                "p%": {"type": "integer"},
            },
        }
    )
    assert [(field.path, field.json_type) for field in plan.fields] == [(("a~b/c",), "integer")]


def test_ref_is_resolved_within_its_own_resource():
    plan = compile_schema(
        {
            "type": "object",
            "$defs": {"t": {"type": "string"}},
            "properties": {
                "f": {
                    "$id": "https://example.test/inner",
                    "$defs": {"t": {"type": "number"}},
                    "type": "object",
                    "properties": {"x": {"$ref": "#/$defs/t"}},
                }
            },
        }
    )
    assert plan.fields[0].mode == "extract.number"


@pytest.mark.parametrize(
    ("schema", "loc", "words"),
    [
        ({"type": "boolean", "x-generate": True}, "/x-generate", "plain string"),
        ({"type": "integer", "x-generate": True}, "/x-generate", "plain string"),
        ({"type": "number", "x-generate": True}, "/x-generate", "plain string"),
        ({"type": "object", "x-generate": True}, "/x-generate", "not to an object"),
        ({"enum": ["a", "b"], "x-generate": True}, "/x-generate", "enum"),
        ({"type": "string", "enum": ["a", "b"], "x-generate": True}, "/x-generate", "enum"),
        ({"type": "string", "format": "date", "x-generate": True}, "/format", "no format"),
        ({"type": ["string", "null"], "x-generate": True}, "/x-generate", "never null"),
        ({"type": "string", "x-generate": "yes"}, "/x-generate", "true or false"),
        ({"type": "array", "x-generate": True, "items": {"type": "number"}}, "/items/x-generate", "plain string"),
        (
            {"type": "array", "x-generate": True, "items": {"type": "string", "enum": ["a", "b"]}},
            "/items/x-generate",
            "enum",
        ),
        ({"type": "array", "x-generate": True, "items": {"type": "object"}}, "/items", "plain strings"),
        (
            {"type": "array", "x-generate": True, "items": {"oneOf": [{"const": 1}, {"const": 2}]}},
            "/items/oneOf",
            "plain strings",
        ),
        ({"type": "string", "x-max-tokens": 5}, "/x-max-tokens", "only beside x-generate"),
        ({"type": "string", "x-generate": True, "x-max-tokens": 0}, "/x-max-tokens", "at least 1"),
        ({"type": "string", "x-generate": True, "x-max-tokens": True}, "/x-max-tokens", "at least 1"),
        ({"type": "string", "x-genrate": True}, "/x-genrate", "x-generate?"),
        ({"type": "object", "x-foo": 1}, "/x-foo", "unknown extension"),
        ({"type": "string", "x-levels": {"1": "a"}}, "/x-levels", "integer scale"),
        ({"type": "integer", "x-levels": {"1": "a"}}, "/x-levels", "2 to 11"),
        ({"type": "integer", "minimum": 1, "maximum": 3, "x-levels": {"4": "a"}}, "/x-levels/4", "none of the levels"),
        ({"type": "integer", "minimum": 1, "maximum": 3, "x-levels": {"1": ""}}, "/x-levels/1", "non-empty"),
        ({"type": "integer", "minimum": 1, "maximum": 3, "x-levels": [1]}, "/x-levels", "is an object"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "/anyOf", "either"),
        ({"anyOf": [{"type": "object"}, {"type": "null"}]}, "/anyOf/0", "nullable object"),
        ({"oneOf": [{"const": "a", "maxLength": 3}, {"const": "b"}]}, "/oneOf/0/maxLength", "does not apply"),
        ({"anyOf": [{"const": 1}, {"const": 2}], "oneOf": [{"const": 1}, {"const": 2}]}, "/oneOf", "beside anyOf"),
        ({"oneOf": [{"type": ["string", "null"]}, {"type": "null"}]}, "/oneOf", "both branches"),
        ({"oneOf": [{"enum": ["a", None]}, {"type": "null"}]}, "/oneOf", "both branches"),
        ({"type": ["object", "null"]}, "", "nullable object"),
        ({"type": ["array", "null"], "items": {"type": "string"}}, "", "nullable array"),
        ({"type": ["string", "number"]}, "/type", "union"),
        ({"type": ["string", "number", "null"]}, "/type", "union"),
        ({"type": "null"}, "/type", "nothing to fill"),
        ({"$ref": "https://example.test/x"}, "/$ref", "not local"),
        ({"$ref": "#/$defs/none"}, "/$ref", "points to nothing"),
        ({"$ref": "#name"}, "/$ref", "not local"),
        ({"$ref": "#"}, "/$ref", "recursive"),
        ({"$ref": "#/properties/f"}, "/$ref", "recursive"),
        (
            {"$ref": "#/properties/f/$defs/x", "maxLength": 3, "$defs": {"x": {"type": "string"}}},
            "/maxLength",
            "beside $ref",
        ),
        ({"type": "string", "format": "time"}, "/format", "not supported"),
        ({"type": "integer", "format": "date"}, "/format", "does not apply"),
        ({"type": "integer", "maxLength": 3}, "/maxLength", "does not apply to type integer"),
        ({"type": "string", "minimum": 3}, "/minimum", "does not apply to type string"),
        ({"type": "array", "items": {"type": "string"}, "pattern": "a"}, "/pattern", "does not apply"),
        ({"type": "string", "descripton": "x"}, "/descripton", "description?"),
        ({"enum": ["a"]}, "/enum", "1 value"),
        ({"enum": []}, "/enum", "0 values"),
        ({"enum": list(range(256))}, "/enum", "256 values"),
        ({"enum": ["a", "a", "b"]}, "/enum", "duplicate value"),
        ({"enum": [1, 1.0, 2]}, "/enum", "duplicate value 1.0"),
        ({"enum": ["a", {"b": 1}]}, "/enum", "no scalar"),
        ({"type": "integer", "enum": [1, 2.5]}, "/enum/1", "not of type integer"),
        ({"type": "string", "enum": ["a", None]}, "/enum/1", "not of type string"),
        ({"type": "string", "maxLength": 1, "enum": ["a", "bb"]}, "/enum/1", "violates maxLength"),
        ({"type": "integer", "minimum": 3, "maximum": 3}, "", "admit 1 integer;"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "", "admit 0 integers"),
        ({"type": "number", "minimum": 3, "maximum": 2}, "", "admit no number"),
        ({"type": "number", "exclusiveMinimum": 2, "maximum": 2}, "", "admit no number"),
        ({"type": "number", "minimum": 0.15, "maximum": 0.19, "multipleOf": 0.1}, "", "admit no number"),
        ({"type": "string", "pattern": "("}, "/pattern", "invalid pattern"),
        ({"type": "string", "pattern": "a(?i)b"}, "/pattern", "invalid pattern"),
        ({"type": "string", "minLength": 3, "maxLength": 2}, "", "larger"),
        ({"type": "object", "required": ["x"]}, "/required/0", "none of the properties"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "/additionalProperties", "true or false"),
        ({"type": "array"}, "", "needs items"),
        ({"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 1}, "", "larger"),
        ({"type": "array", "items": [{"type": "string"}]}, "/items", "tuple items"),
        ({"type": "array", "items": True}, "/items", "write the type"),
        ({"properties": {}}, "", "add type: object"),
        ({"items": {"type": "string"}}, "", "add type: array"),
        ({}, "", "name the type"),
        (True, "", "write the type"),
        ({"type": "strin"}, "/type", "not a valid JSON Schema"),
        ({"type": "string", "maxLength": -1}, "/maxLength", "not a valid JSON Schema"),
    ],
)
def test_refused_with_its_place(schema, loc, words):
    refused(schema, loc, words)


@pytest.mark.parametrize(
    "keyword",
    [
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "const",
        "dependentSchemas",
        "dependentRequired",
        "dependencies",
        "patternProperties",
        "propertyNames",
        "unevaluatedProperties",
        "minProperties",
        "maxProperties",
        "unevaluatedItems",
        "prefixItems",
        "additionalItems",
        "contains",
        "minContains",
        "maxContains",
        "$dynamicRef",
        "$dynamicAnchor",
        "$recursiveRef",
        "$recursiveAnchor",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    ],
)
def test_unsupported_keywords_are_refused_on_every_type(keyword):
    bodies = {
        "allOf": [{}],
        "dependentRequired": {},
        "dependencies": {},
        "dependentSchemas": {},
        "patternProperties": {},
        "prefixItems": [{}],
    }
    numbers = ("minProperties", "maxProperties", "minContains", "maxContains")
    texts = (
        "$dynamicRef",
        "$dynamicAnchor",
        "contentEncoding",
        "contentMediaType",
        "$recursiveRef",
        "$recursiveAnchor",
    )
    body = bodies.get(
        keyword, 1 if keyword in numbers else "#a" if keyword == "$dynamicRef" else "a" if keyword in texts else {}
    )
    for own in (
        {"type": "object"},
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"enum": [1, 2]},
    ):
        found = problems({"type": "object", "properties": {"f": {**own, keyword: body}}})
        assert any(loc == f"/properties/f/{keyword}" and "not" in msg for loc, msg in found.items()), found


def test_all_problems_come_at_once():
    found = problems(
        {
            "type": "object",
            "required": ["gone"],
            "foo": 1,
            "properties": {
                "a": {"type": "strin"},
                "b": {"type": "string", "maxLength": -1, "x-genrate": True},
                "c": {"type": "object", "properties": {"d": {"const": 1}}},
                "e": {"type": "array", "minItems": "x", "items": {"type": "string", "format": "time"}},
            },
        }
    )
    assert set(found) == {
        "/required/0",
        "/foo",
        "/properties/a/type",
        "/properties/b/maxLength",
        "/properties/c/properties/d/const",
        "/properties/e/minItems",
        "/properties/e/items/format",
    }


@pytest.mark.parametrize("schema", [[], "x", None, True, 3])
def test_the_input_is_a_json_object(schema):
    assert "a schema is a JSON object" in problems(schema)[""]


@pytest.mark.parametrize(
    "schema", [{}, {"type": "array", "items": {"type": "string"}}, {"type": "string"}, {"enum": [1, 2]}]
)
def test_the_root_is_an_object(schema):
    assert "the root is an object" in " ".join(problems(schema).values())


def test_unknown_draft():
    assert "unknown draft" in problems({"$schema": "https://example.test/mine", "type": "object"})["/$schema"]


def test_input_is_never_mutated_and_the_copy_is_private():
    schema = {"type": "object", "properties": {"f": {"enum": ["a", "b"]}}, "$defs": {"x": {"type": "string"}}}
    before = copy.deepcopy(schema)
    plan = compile_schema(schema)
    assert schema == before
    schema["properties"]["f"]["enum"].append("c")
    assert plan.schema == before
