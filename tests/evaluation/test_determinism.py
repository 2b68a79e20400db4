"""The determinism check finds what differs, and only that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deg_core.contract.errors import FillError
from deg_core.evaluation import determinism
from deg_core.evaluation.determinism import check_determinism, option_flips, reversed_options
from deg_core.model.model import load_model

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "order", "letter"]},
        "level": {"type": "integer", "minimum": 1, "maximum": 5},
        "firm": {"type": ["string", "null"]},
        "people": {"type": "array", "maxItems": 2, "items": {"type": ["string", "null"]}},
        "reply": {"type": "string", "x-generate": True, "x-max-tokens": 4},
    },
    "required": ["kind", "level", "firm", "people", "reply"],
}
ASKS = [(f"Invoice {i} of Miller & Sons. Ada signed.", SCHEMA, {}) for i in range(2)]


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> Any:
    return load_model(checkpoint, device="cpu", dtype="float32")


def test_the_runtime_is_bitwise_the_same_in_every_variation(model: Any) -> None:
    found = check_determinism(model, ASKS)
    assert found["documents"] == 2 and found["failed"] == 0 and found["differences"] == []
    assert found["checks"] == {
        "repeated": {"compared": 20, "equal": 20},
        "2 threads": {"compared": 2, "equal": 2},
        "reordered": {"compared": 10, "equal": 10},
        "in a bigger schema": {"compared": 2, "equal": 2},
        "split in two": {"compared": 2, "equal": 2},
        "batched": {"compared": 2, "equal": 2},
    }


def test_the_last_digit_of_a_probability_is_a_difference(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = determinism.fill
    calls = []

    def wavering(*given: Any, **options: Any) -> dict[str, Any]:
        response = fill(*given, **options)
        calls.append(1)
        if len(calls) == 3:
            response["meta"]["/level"]["probability"] *= 1 + 2**-52
        return response

    monkeypatch.setattr(determinism, "fill", wavering)
    found = check_determinism(model, ASKS[:1])
    assert found["checks"]["repeated"] == {"compared": 10, "equal": 9}
    assert found["differences"] == [{"check": "repeated", "context": ASKS[0][0], "pointers": "/level"}]


def test_a_field_that_sees_its_neighbours_is_found(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fill = determinism.fill

    def nosy(model: Any, text: str, schema: dict[str, Any], **options: Any) -> dict[str, Any]:
        response = fill(model, text, schema, **options)
        if next(iter(schema["properties"])) != "kind" and "/kind" in response["meta"]:
            response["meta"]["/kind"]["probability"] = 0.5
        return response

    monkeypatch.setattr(determinism, "fill", nosy)
    checks = check_determinism(model, ASKS[:1])["checks"]
    assert checks["repeated"]["equal"] == 10
    assert checks["reordered"]["equal"] < 5 and checks["in a bigger schema"]["equal"] == 0


def test_what_cannot_be_filled_is_counted(model: Any) -> None:
    schema = {"type": "object", "properties": {"mail": {"type": "string", "format": "email"}}, "required": ["mail"]}
    found = check_determinism(model, [("no address", schema, {})])
    assert found == {"documents": 0, "failed": 1, "checks": {}, "differences": []}


def test_option_flips_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def first(model: Any, text: str, schema: dict[str, Any], **options: Any) -> dict[str, Any]:
        if text == "fails":
            raise FillError("/a", "nothing")
        a, b = schema["properties"]["a"]["enum"], schema["properties"]["b"]["oneOf"]
        value = {"a": a[0], "b": max(option["const"] for option in b)}
        return {"value": value, "meta": {"/a": {"mode": "decide.choice"}, "/b": {"mode": "decide.choice"}}}

    monkeypatch.setattr(determinism, "fill", first)
    schema = {"type": "object", "properties": {"a": {"enum": ["x", "y"]}, "b": {"oneOf": [{"const": 1}, {"const": 2}]}}}
    assert option_flips(None, [("text", schema, {}), ("fails", schema, {})]) == {"asked": 2, "flipped": 1, "rate": 0.5}
    assert option_flips(None, []) == {"asked": 0, "flipped": 0, "rate": None}


def test_reversed_options_touch_nothing_else() -> None:
    schema = {
        "properties": {"enum": {"enum": [1, 2]}, "a": {"items": {"anyOf": [{"const": 1}, {"const": 2}]}}},
        "required": ["a", "enum"],
    }
    assert reversed_options(schema) == {
        "properties": {"enum": {"enum": [2, 1]}, "a": {"items": {"anyOf": [{"const": 2}, {"const": 1}]}}},
        "required": ["a", "enum"],
    }
