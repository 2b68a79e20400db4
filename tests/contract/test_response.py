"""Contract section 8 and the rules for what was not found (sections 4 and 12.6)."""

import json
import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from deg_core.contract import (
    Decided,
    Extracted,
    FillError,
    Generated,
    assemble,
    compile_schema,
    decided_value,
    resolve,
)
from deg_core.contract.pointer import concrete, read_value
from deg_core.contract.walk import leaf_instances, lengths_of, open_arrays

NOTHING = Extracted(None, None, 0.4, "not_found")


def found(value, span=(0, 1)):
    return Extracted(value, span, 0.9)


def plan_of(properties, required=()):
    return compile_schema({"type": "object", "properties": properties, "required": list(required)})


def run(plan, outcomes, lengths=None):
    return assemble(plan, outcomes, lengths or {}, model="m", prompt_tokens=42)


def test_the_whole_response():
    plan = plan_of(
        {
            "department": {"enum": ["billing", "sales", "other"]},
            "urgent": {"type": "boolean"},
            "anger": {"type": "integer", "minimum": 0, "maximum": 4},
            "order_id": {"type": "string"},
            "due": {"type": ["string", "null"], "format": "date"},
            "at": {"type": "string", "format": "date-time"},
            "line_items": {"type": "array", "items": {"type": "number"}},
            "reply": {"type": "string", "x-generate": True},
            "empty": {"type": "object"},
        }
    )
    outcomes = {
        "/department": Decided((0.8, 0.15, 0.05)),
        "/urgent": Decided((0.91, 0.09)),
        "/anger": Decided((0.0, 0.1, 0.6, 0.3, 0.0)),
        "/order_id": Extracted("ORD-007", (32, 39), 0.88),
        "/due": NOTHING,
        "/at": Extracted("2024-01-02T03:04:00Z", (3, 9), 0.5, assumed_offset=True),
        "/line_items/0": found(2),
        "/line_items/1": found(2.5, (4, 7)),
        "/reply": Generated("Dear", 11),
    }
    response = run(plan, outcomes, {"/line_items": 2})
    assert list(response["value"]) == list(plan.schema["properties"])
    assert response["value"] == {
        "department": "billing",
        "urgent": True,
        "anger": 2,
        "order_id": "ORD-007",
        "due": None,
        "at": "2024-01-02T03:04:00Z",
        "line_items": [2, 2.5],
        "reply": "Dear",
        "empty": {},
    }
    meta = response["meta"]
    assert list(meta) == [
        *("/department", "/urgent", "/anger", "/order_id", "/due", "/at"),
        *("/line_items", "/line_items/0", "/line_items/1", "/reply"),
    ]
    assert meta["/department"]["mode"] == "decide.choice"
    assert meta["/department"]["probability"] == 0.8
    assert meta["/department"]["probabilities"] == [0.8, 0.15, 0.05]
    assert math.isclose(meta["/department"]["confidence"], (3 * 0.8 - 1) / 2)
    assert meta["/urgent"] == {"mode": "decide.noul", "probability": 0.91}
    assert math.isclose(meta["/anger"]["expected"], 2.2) and math.isclose(meta["/anger"]["confidence"], 0.5)
    assert meta["/order_id"] == {"mode": "extract.span", "confidence": 0.88, "span": [32, 39]}
    assert meta["/due"] == {"mode": "extract.date", "confidence": 0.4, "span": None, "null_reason": "not_found"}
    assert meta["/at"]["assumed_offset"] is True
    assert meta["/line_items"] == {"mode": "array", "items": 2}
    assert meta["/reply"] == {"mode": "generate", "generated_tokens": 11}
    assert response["usage"] == {"prompt_tokens": 42, "generated_tokens": 11}
    assert (response["model"], response["plan"]) == ("m", plan.fingerprint)
    json.dumps(response, allow_nan=False)


def test_ties_go_to_the_first_and_half_is_true():
    choice, noul, score = plan_of(
        {
            "c": {"enum": ["b", "a"]},
            "n": {"type": "boolean"},
            "s": {"type": ["integer", "null"], "minimum": 1, "maximum": 2},
        }
    ).fields
    assert decided_value(choice, Decided((0.5, 0.5))) == "b"
    assert decided_value(noul, Decided((0.5, 0.5))) is True
    assert decided_value(noul, Decided((0.49, 0.51))) is False
    assert decided_value(score, Decided((0.25, 0.25, 0.5))) is None
    with pytest.raises(ValueError, match="3 probabilities for the 2 outcomes"):
        decided_value(choice, Decided((0.5, 0.25, 0.25)))


def test_expected_level_is_conditional_on_not_null():
    plan = plan_of({"s": {"type": ["integer", "null"], "minimum": 1, "maximum": 2}})
    assert run(plan, {"/s": Decided((0.25, 0.25, 0.5))})["meta"]["/s"]["expected"] == 1.5
    assert run(plan, {"/s": Decided((0.0, 0.0, 1.0))})["meta"]["/s"]["expected"] is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Decided(()),
        lambda: Decided((0.5, 0.6)),
        lambda: Decided((-0.5, 1.5)),
        lambda: Decided((math.nan, 1.0)),
        lambda: Extracted("a", None, 0.5),
        lambda: Extracted(None, None, 0.5),
        lambda: Extracted("a", (3, 2), 0.5),
        lambda: Extracted("a", (1, 2), 0.5, "not_found"),
    ],
)
def test_impossible_outcomes_are_refused(make):
    with pytest.raises(ValueError):
        make()


def test_null_omit_and_forbid():
    plan = plan_of({"n": {"type": ["string", "null"]}, "o": {"type": "string"}, "f": {"type": "string"}}, ["n", "f"])
    response = run(plan, {"/n": NOTHING, "/o": NOTHING, "/f": found("x")})
    assert response["value"] == {"n": None, "f": "x"}
    assert response["meta"]["/o"]["null_reason"] == "not_found"
    with pytest.raises(FillError) as caught:
        run(plan, {"/n": NOTHING, "/o": NOTHING, "/f": Extracted(None, None, 0.1, "maxLength")})
    assert caught.value.pointer == "/f" and "maxLength" in caught.value.reason


def test_an_optional_object_goes_with_a_key_that_it_requires():
    plan = plan_of(
        {
            "o": {
                "type": "object",
                "required": ["k"],
                "properties": {
                    "k": {"type": "string"},
                    "d": {"type": "boolean"},
                    "g": {"type": "string", "x-generate": True},
                    "l": {"type": "array", "minItems": 1, "items": {"type": "number"}},
                    "m": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "string"}}}},
                },
            }
        }
    )
    outcomes = {"/o/k": NOTHING, "/o/d": Decided((1.0, 0.0)), "/o/l/0": NOTHING, "/o/m/0/n": NOTHING}
    lengths = {"/o/l": 1, "/o/m": 1}
    response = run(plan, outcomes, lengths)
    assert response["value"] == {}
    assert list(response["meta"]) == ["/o/k"]
    assert response["usage"]["generated_tokens"] == 0
    assert resolve(plan, outcomes, lengths).known == ()


ROWS = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["price"],
        "properties": {
            "price": {"type": "number"},
            "name": {"type": "string"},
            "ok": {"type": "boolean"},
            "text": {"type": "string", "x-generate": True},
        },
    },
}


def row_outcomes(prices):
    outcomes = {}
    for index, price in enumerate(prices):
        outcomes[f"/rows/{index}/price"] = NOTHING if price is None else found(price)
        outcomes[f"/rows/{index}/name"] = NOTHING if index % 2 else found(f"n{index}")
        outcomes[f"/rows/{index}/ok"] = Decided((0.75, 0.25))
        if price is not None:
            outcomes[f"/rows/{index}/text"] = Generated(f"t{index}", 2)
    return outcomes


def test_items_without_a_required_value_are_dropped_and_the_rest_renumbered():
    plan = plan_of({"rows": ROWS})
    outcomes = row_outcomes([None, 1, None, 3])
    response = run(plan, outcomes, {"/rows": 4})
    assert response["value"]["rows"] == [
        {"price": 1, "ok": True, "text": "t1"},
        {"price": 3, "ok": True, "text": "t3"},
    ]
    assert response["meta"]["/rows"] == {"mode": "array", "items": 2, "dropped": 2}
    assert "/rows/1/name" in response["meta"] and "/rows/2/price" not in response["meta"]
    assert response["usage"]["generated_tokens"] == 4
    resolved = resolve(plan, outcomes, {"/rows": 4})
    assert resolved.known == (("/rows/0/price", 1), ("/rows/0/ok", True), ("/rows/1/price", 3), ("/rows/1/ok", True))
    assert [(leaf.raw_pointer, leaf.pointer) for leaf in resolved.to_generate] == [
        ("/rows/1/text", "/rows/0/text"),
        ("/rows/3/text", "/rows/1/text"),
    ]


def test_resolve_needs_no_generated_text():
    plan = plan_of({"rows": ROWS})
    outcomes = {key: value for key, value in row_outcomes([1, None]).items() if not key.endswith("text")}
    assert len(resolve(plan, outcomes, {"/rows": 2}).to_generate) == 1


def test_min_items_broken_at_the_top_is_an_error():
    plan = plan_of({"rows": {**ROWS, "minItems": 2}})
    with pytest.raises(FillError) as caught:
        run(plan, row_outcomes([1, None, None]), {"/rows": 3})
    assert caught.value.pointer == "/rows"
    assert caught.value.reason == "minItems 2: only 1 items have their required values"


def test_min_items_broken_inside_an_item_drops_that_item():
    inner = {"type": "array", "minItems": 1, "items": {"type": "string", "format": "email"}}
    outer = {"type": "array", "items": {"type": "object", "properties": {"mails": inner, "id": {"type": "integer"}}}}
    plan = plan_of({"people": outer})
    outcomes = {
        "/people/0/mails/0": NOTHING,
        "/people/0/id": found(7),
        "/people/1/mails/0": NOTHING,
        "/people/1/mails/1": found("a@b.c"),
        "/people/1/id": found(8),
    }
    response = run(plan, outcomes, {"/people": 2, "/people/0/mails": 1, "/people/1/mails": 2})
    assert response["value"] == {"people": [{"mails": ["a@b.c"], "id": 8}]}
    assert response["meta"]["/people"]["dropped"] == 1
    assert response["meta"]["/people/0/mails"] == {"mode": "array", "items": 1, "dropped": 1}
    assert "/people/1/id" not in response["meta"]


def test_arrays_of_arrays_drop_level_by_level():
    cells = {"type": "array", "minItems": 2, "items": {"type": "number"}}
    plan = plan_of({"grid": {"type": "array", "items": cells}})
    outcomes = {"/grid/0/0": found(1), "/grid/0/1": NOTHING, "/grid/1/0": found(3), "/grid/1/1": found(4)}
    response = run(plan, outcomes, {"/grid": 2, "/grid/0": 2, "/grid/1": 2})
    assert response["value"] == {"grid": [[3, 4]]}
    assert list(response["meta"]) == ["/grid", "/grid/0", "/grid/0/0", "/grid/0/1"]


@pytest.mark.parametrize(
    ("schema", "outcomes", "lengths", "pointer", "keyword"),
    [
        ({"type": "array", "uniqueItems": True, "items": {"type": "string"}}, ["a", "a"], 2, "/f", "uniqueItems"),
        ({"type": "string", "format": "email"}, "not an address", None, "/f", "format"),
        ({"type": "string", "format": "date"}, "2023-02-30", None, "/f", "format"),
        ({"type": "number", "multipleOf": 0.01}, 19.995, None, "/f", "multipleOf"),
        ({"type": "integer"}, 2.5, None, "/f", "type"),
        ({"type": "array", "minItems": 2, "items": {"type": "string"}}, ["a"], 1, "/f", "minItems"),
    ],
)
def test_the_final_check_refuses_what_the_schema_does_not_allow(schema, outcomes, lengths, pointer, keyword):
    plan = plan_of({"f": schema})
    values = outcomes if isinstance(outcomes, list) else None
    given_outcomes = {f"/f/{i}": found(v) for i, v in enumerate(values)} if values else {"/f": found(outcomes)}
    with pytest.raises(FillError) as caught:
        run(plan, given_outcomes, {"/f": lengths} if values else {})
    assert caught.value.pointer == pointer and caught.value.reason.startswith(keyword)


def test_multiple_of_is_exact_in_decimal():
    plan = plan_of({"f": {"type": "number", "multipleOf": 0.01}})
    assert run(plan, {"/f": found(19.99)})["value"] == {"f": 19.99}


def test_a_missing_outcome_is_named():
    with pytest.raises(TypeError, match="/f needs an Extracted outcome"):
        run(plan_of({"f": {"type": "string"}}), {})


LEAVES = st.sampled_from(
    [
        {"enum": ["a", "b", None]},
        {"oneOf": [{"const": 1}, {"const": "x", "description": "d"}]},
        {"type": "boolean"},
        {"type": ["boolean", "null"]},
        {"type": ["integer", "null"], "minimum": 1, "maximum": 4},
        {"type": "number", "minimum": 0},
        {"type": "string", "format": "date"},
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}]},
        {"type": "string", "x-generate": True, "maxLength": 9},
    ]
)
NAMES = ("a", "b", "c/d", "~")


@st.composite
def schemas(draw, depth=0):
    kind = draw(st.sampled_from(["leaf", "leaf", "object", "array"] if depth < 3 else ["leaf"])) if depth else "object"
    if kind == "leaf":
        return draw(LEAVES)
    if kind == "array":
        return {"type": "array", "items": draw(schemas(depth + 1)), "minItems": draw(st.integers(0, 2))}
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    properties = {name: draw(schemas(depth + 1)) for name in names}
    return {"type": "object", "properties": properties, "required": [name for name in names if draw(st.booleans())]}


def random_outcome(draw, field):
    if field.kind in ("choice", "score", "noul"):
        weights = [draw(st.integers(1, 4)) for _ in field.outcomes]
        return Decided(tuple(weight / sum(weights) for weight in weights))
    if field.mode == "generate":
        return Generated(draw(st.text("xy ", max_size=9)), draw(st.integers(1, 9)))
    values = {"extract.number": 3.5, "extract.date": "2024-02-29"}
    value = "a@b.c" if field.format == "email" else values.get(field.mode, "w")
    return draw(st.sampled_from([found(value), found(value), NOTHING]))


def sizes(draw, plan):
    lengths = {}
    while level := open_arrays(plan, lengths):
        for array, indices in level:
            lengths[concrete(array.path, indices)] = draw(st.integers(array.min_items, array.min_items + 2))
    return lengths


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_random_outcomes_assemble_to_valid_values(data):
    schema = data.draw(schemas())
    plan = compile_schema(schema)
    lengths = sizes(data.draw, plan)
    outcomes = {
        concrete(field.path, indices): random_outcome(data.draw, field)
        for field, indices in leaf_instances(plan, lengths)
    }
    try:
        response = run(plan, outcomes, lengths)
    except FillError:
        assert any(outcome is NOTHING for outcome in outcomes.values())
        assume(False)
    value = response["value"]
    Draft202012Validator(schema).validate(value)
    for pointer, meta in response["meta"].items():
        there = read_value(value, pointer, "absent")
        if meta["mode"] == "array":
            assert len(there) == meta["items"]
        elif meta.get("null_reason"):
            assert there is None or there == "absent"
        else:
            assert there != "absent"
    check_places(plan, value, response["meta"])


def check_places(plan, value, meta):
    """Every leaf and array of the value has an entry, in document order."""
    lengths = lengths_of(plan, value)
    leaves = [concrete(field.path, indices) for field, indices in leaf_instances(plan, lengths)]
    present = [pointer for pointer in leaves if read_value(value, pointer, "absent") != "absent"]
    arrays = {pointer for pointer in lengths if read_value(value, pointer, "absent") != "absent"}
    assert arrays <= set(meta)
    assert [pointer for pointer in meta if pointer in set(present)] == present
