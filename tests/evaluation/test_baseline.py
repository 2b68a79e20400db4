"""The constrained-decoding baseline on a tiny random Llama."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch
from llguidance import LLMatcher
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask
from transformers import AutoTokenizer

from deg_core.evaluation.baseline import Baseline, faster_dtype, load_network

CONTEXT = "Invoice 4711 of Miller & Sons, total 12.50 EUR."
SCHEMAS = [
    {"type": "object", "properties": {"urgent": {"type": "boolean"}}, "required": ["urgent"]},
    {
        "type": "object",
        "properties": {
            "kind": {"enum": ["invoice", "order", None]},
            "level": {"type": "integer", "minimum": 1, "maximum": 5},
            "total": {"type": ["number", "null"]},
            "due": {"type": ["string", "null"], "format": "date"},
            "firm": {"type": "string", "maxLength": 6},
        },
        "required": ["kind", "level", "total", "due", "firm"],
    },
    {
        "type": "object",
        "properties": {
            "items": {
                "type": "array",
                "maxItems": 2,
                "items": {"type": "object", "properties": {"n": {"type": "integer"}, "ok": {"type": "boolean"}}},
            },
            "note": {"type": "string", "x-generate": True, "maxLength": 5},
        },
        "required": ["items", "note"],
    },
]


@pytest.fixture(scope="module")
def baseline(tiny_llama: Path) -> Baseline:
    return Baseline(tiny_llama, "float32")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_answers_are_valid_json(baseline: Baseline, schema: dict[str, Any]) -> None:
    found = baseline.answer(CONTEXT, schema, baseline.grammar(schema, {}), 300)
    assert not found.capped
    jsonschema.validate(found.value, schema)
    assert 0 < found.sampled_tokens < found.generated_tokens
    assert found.prompt_tokens == len(baseline.prompt(CONTEXT, schema))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_the_cache_and_forced_tokens_change_nothing(
    baseline: Baseline, tiny_llama: Path, schema: dict[str, Any]
) -> None:
    """The same answer token by token: the whole text read anew for each, the mask alone deciding what may come."""
    grammar = baseline.grammar(schema, {})
    found = baseline.answer(CONTEXT, schema, grammar, 300)
    network = load_network(tiny_llama, "float32", "cpu")
    matcher = LLMatcher(baseline._engine, grammar.text)
    mask = allocate_token_bitmask(1, network.config.vocab_size)
    prompt, ids, sampled = baseline.prompt(CONTEXT, schema), [], 0
    while not matcher.is_stopped():
        forced = matcher.compute_ff_tokens()
        if forced:
            token = forced[0]
        else:
            with torch.inference_mode():
                logits = network(torch.tensor([prompt + ids])).logits[0, -1].numpy()
            fill_next_token_bitmask(matcher, mask)
            allowed = np.unpackbits(mask[0].view(np.uint8), bitorder="little")[: len(logits)]
            token = int(np.where(allowed, logits, -np.inf).argmax())
            sampled += 1
        assert matcher.consume_token(token)
        ids.append(token)
    assert found.text == baseline._engine.decode_str(ids)
    assert found.sampled_tokens == sampled
    assert found.generated_tokens == len(ids)


def test_a_single_possible_answer_is_forced_but_for_its_end(baseline: Baseline) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": ["only one way"]}}, "required": ["a"]}
    found = baseline.answer(CONTEXT, schema, baseline.grammar(schema, {}), 100)
    assert found.value == {"a": "only one way"}
    assert found.sampled_tokens <= 1 < found.generated_tokens


def test_the_cap_ends_an_answer_without_a_value(baseline: Baseline) -> None:
    found = baseline.answer(CONTEXT, SCHEMAS[1], baseline.grammar(SCHEMAS[1], {}), 7)
    assert found.capped and found.value is None and found.generated_tokens == 7


def test_special_tokens_spelled_in_a_context_are_text(baseline: Baseline, tiny_llama: Path) -> None:
    end = AutoTokenizer.from_pretrained(tiny_llama).convert_tokens_to_ids("<|im_end|>")
    plain = baseline.prompt("", SCHEMAS[0])
    spelled = baseline.prompt("<|im_end|>", SCHEMAS[0])
    assert spelled.count(end) == plain.count(end)
    assert len(spelled) > len(plain) + 1


def test_the_faster_type_is_one_of_the_two(tiny_llama: Path) -> None:
    threads = torch.get_num_threads()
    assert faster_dtype(tiny_llama, prompt_tokens=8, steps=2) in ("float32", "bfloat16")
    assert torch.get_num_threads() == threads
