"""Contract section 6: what changes a fingerprint, and what does not."""

import copy

import pytest

from deg_core.contract import compile_schema

PROPERTIES = {
    "kind": {"enum": ["a", "b"], "description": "which"},
    "due": {"type": "string", "format": "date"},
    "score": {"type": "integer", "minimum": 1, "maximum": 3},
    "first": {"type": "string", "x-generate": True, "maxLength": 20},
    "second": {"type": "string", "x-generate": True},
    "tags": {"type": "array", "items": {"type": "string"}},
}


def plan_of(properties, **root):
    return compile_schema({"type": "object", "properties": properties, **root})


def reordered(*names):
    return {name: PROPERTIES[name] for name in names}


def test_same_schema_same_plan():
    assert plan_of(PROPERTIES) == plan_of(copy.deepcopy(PROPERTIES))


def test_order_of_decide_and_extract_fields_does_not_matter():
    other = reordered("tags", "first", "score", "second", "due", "kind")
    assert plan_of(other).fingerprint == plan_of(PROPERTIES).fingerprint


def test_order_of_generate_fields_matters():
    other = reordered("kind", "due", "score", "second", "first", "tags")
    assert plan_of(other).fingerprint != plan_of(PROPERTIES).fingerprint


def test_a_leaf_keeps_its_fingerprint_wherever_it_stands():
    leaf = PROPERTIES["due"]
    flat = plan_of({"due": leaf}, required=["due"]).fields[0]
    nested = plan_of({"x": {"type": "array", "items": leaf}, **PROPERTIES}).fields[0]
    referenced = plan_of({"y": {"$ref": "#/$defs/d"}}, required=["y"], **{"$defs": {"d": leaf}}).fields[0]
    assert flat.fingerprint == nested.fingerprint == referenced.fingerprint


def test_required_enters_only_where_it_changes_the_outcome():
    for name, same in (("kind", True), ("score", True), ("due", False)):
        optional, required = plan_of(PROPERTIES), plan_of(PROPERTIES, required=[name])
        pairs = [(a, b) for a, b in zip(optional.fields, required.fields, strict=True) if a.path == (name,)]
        assert [(a.fingerprint == b.fingerprint) for a, b in pairs] == [same]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("kind", {"description": "other"}),
        ("kind", {"title": "T"}),
        ("kind", {"enum": ["b", "a"]}),
        ("kind", {"enum": ["a", "b", None]}),
        ("due", {"format": "date-time"}),
        ("due", {"type": ["string", "null"]}),
        ("due", {"minLength": 3}),
        ("score", {"maximum": 4}),
        ("score", {"x-levels": {"1": "bad"}}),
        ("first", {"x-max-tokens": 8}),
        ("first", {"x-generate": False}),
        ("tags", {"maxItems": 3}),
        ("tags", {"description": "labels"}),
    ],
)
def test_every_change_of_a_leaf_or_array_changes_the_plan(name, change):
    changed = {**PROPERTIES, name: {**PROPERTIES[name], **change}}
    assert plan_of(changed).fingerprint != plan_of(PROPERTIES).fingerprint


def test_a_moved_or_renamed_leaf_changes_the_plan():
    one = plan_of({"a": {"type": "string"}, "b": {"type": "number"}})
    swapped = plan_of({"b": {"type": "string"}, "a": {"type": "number"}})
    assert one.fingerprint != swapped.fingerprint


def test_annotations_without_meaning_do_not_matter():
    noted = {
        **PROPERTIES,
        "due": {**PROPERTIES["due"], "$comment": "x", "examples": ["2020-01-01"], "deprecated": True},
    }
    assert plan_of(noted, title="root").fingerprint == plan_of(PROPERTIES).fingerprint
