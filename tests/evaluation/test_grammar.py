"""Schemas made finite and strict for the baseline."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import llguidance.hf
import pytest
from llguidance import LLMatcher, LLTokenizer
from transformers import AutoTokenizer

from deg_core.contract.errors import InputError
from deg_core.evaluation.grammar import ValueBounds, compile_grammar, plain_schema


@pytest.fixture(scope="module")
def engine(tiny_llama: Path) -> LLTokenizer:
    return llguidance.hf.from_tokenizer(AutoTokenizer.from_pretrained(tiny_llama))


def accepts(engine: LLTokenizer, schema: dict[str, Any], value: Any, **limits: int) -> bool:
    grammar = compile_grammar(schema, {f"/{name}": limit for name, limit in limits.items()}, engine)
    matcher = LLMatcher(engine, grammar.text, log_level=0)
    text = json.dumps(value, separators=(",", ":"))
    return matcher.consume_tokens(engine.tokenize_str(text)) and matcher.is_accepting()


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties)}


def test_undeclared_keys_are_closed_at_every_depth(engine: LLTokenizer) -> None:
    schema = form(a=form(b={"type": "boolean"}))
    assert accepts(engine, schema, {"a": {"b": True}})
    assert not accepts(engine, schema, {"a": {"b": True, "c": 1}})
    assert not accepts(engine, schema, {"a": {"b": True}, "c": 1})


def test_texts_arrays_and_digits_are_bounded(engine: LLTokenizer) -> None:
    assert accepts(engine, form(a={"type": "string"}), {"a": "12345"}, a=5)
    assert not accepts(engine, form(a={"type": "string"}), {"a": "123456"}, a=5)
    assert not accepts(
        engine, form(a={"type": ["string", "null"], "format": "email"}), {"a": "a@" + "b" * 40 + ".de"}, a=20
    )
    assert accepts(engine, form(a={"type": "array", "items": {"type": "boolean"}}), {"a": [True] * 2}, a=2)
    assert not accepts(engine, form(a={"type": "array", "items": {"type": "boolean"}}), {"a": [True] * 3}, a=2)
    assert accepts(engine, form(a={"type": ["number", "null"]}), {"a": 9.25})
    assert not accepts(engine, form(a={"type": "number"}), {"a": 10**17})
    grammar = compile_grammar(form(a={"type": "number"}), {}, engine)
    matcher = LLMatcher(engine, grammar.text, log_level=0)
    assert not matcher.consume_tokens(engine.tokenize_str('{"a":0.00000000'))


def test_a_bound_of_the_schema_stays(engine: LLTokenizer) -> None:
    schema = form(a={"type": "string", "maxLength": 9}, b={"type": "integer", "minimum": 3})
    assert accepts(engine, schema, {"a": "123456789", "b": 3}, a=2)
    assert not accepts(engine, schema, {"a": "1", "b": 2})


def test_references_are_bounded_by_the_place_they_are_used_at(engine: LLTokenizer) -> None:
    schema = form(a={"$ref": "#/$defs/t"}, b={"$ref": "#/$defs/t"}) | {"$defs": {"t": {"type": "string"}}}
    assert accepts(engine, schema, {"a": "xx", "b": "xxxx"}, a=2, b=4)
    assert not accepts(engine, schema, {"a": "xxxx", "b": "xxxx"}, a=2, b=4)


def test_one_of_constants_and_x_keywords(engine: LLTokenizer) -> None:
    schema = form(
        a={"oneOf": [{"const": "x", "description": "first"}, {"const": "y"}]},
        b={"type": "integer", "minimum": 0, "maximum": 2, "x-levels": {"0": "low"}},
        c={"type": "string", "x-generate": True},
    )
    assert accepts(engine, schema, {"a": "y", "b": 2, "c": "t"})
    assert not accepts(engine, schema, {"a": "z", "b": 2, "c": "t"})


def test_what_the_engine_cannot_enforce_is_named(engine: LLTokenizer) -> None:
    items = {"type": "array", "items": {"type": "string", "pattern": "^(?=a)a$"}, "uniqueItems": True}
    grammar = compile_grammar(form(a=items), {}, engine)
    assert grammar.relaxed == ("/a/*: pattern", "/a: uniqueItems")


def test_a_schema_that_the_engine_refuses_says_so(engine: LLTokenizer) -> None:
    with pytest.raises(InputError, match="llguidance cannot compile"):
        compile_grammar(form(a={"type": "string", "minLength": 5, "maxLength": 2}), {}, engine)


def test_the_prompts_schema_keeps_properties_named_like_keywords() -> None:
    schema = form(**{"x-ray": {"type": "string", "x-generate": True}})
    assert plain_schema(schema) == form(**{"x-ray": {"type": "string"}})


def test_bounds_come_from_training_values(plan: Any) -> None:
    schema = form(
        name={"type": "string"},
        note={"type": "string", "x-generate": True},
        tags={"type": "array", "items": {"type": "string"}},
        kind={"enum": ["a", "b"]},
    )
    bounds = ValueBounds()
    assert bounds.limits(plan(schema)) == {"/name": 256, "/note": 256, "/tags/*": 256, "/tags": 32}
    bounds.add(plan(schema), {"name": "x" * 8, "note": "y" * 40, "tags": ["a", "bbbb"], "kind": "a"})
    assert bounds.limits(plan(schema)) == {"/name": 10, "/note": 50, "/tags/*": 5, "/tags": 3}
    unseen = form(other={"type": "string"}, text={"type": "string", "x-generate": True})
    assert bounds.limits(plan(unseen)) == {"/other": 10, "/text": 50}
