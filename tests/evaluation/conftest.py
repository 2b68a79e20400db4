"""Records, answers and a tiny random Llama with a tokenizer of its own, all made here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from deg_core.contract.plan import FillPlan
from deg_core.pools.lines import RawLine
from deg_core.pools.records import Record, parse_line
from deg_core.pools.schemas import Schemas

CORPUS = [
    "Invoice 4711 of Miller & Sons, due 2024-05-01, total 12.50 EUR. The customer is angry.",
    '{"name":"Ada","tags":["red","blue"],"urgent":true,"level":3,"note":null,"due":"2024-05-01"}',
    "Fill the JSON Schema from the text. Answer with one JSON object that is valid against the schema.",
]


def make_record(body: dict[str, Any], line: int = 1) -> Record:
    """A record through the reader that evaluation uses."""
    data = json.dumps({"uid": "a", "split": "val", **body}).encode()
    record = parse_line(RawLine(line, 0, len(data), data, True), Schemas())
    assert isinstance(record, Record), record
    return record


@pytest.fixture
def record() -> Callable[[dict[str, Any]], Record]:
    return make_record


@pytest.fixture
def plan() -> Callable[[dict[str, Any]], FillPlan]:
    def compiled(schema: dict[str, Any]) -> FillPlan:
        found = Schemas().compile(schema)
        assert found.plan is not None, found.problems
        return found.plan

    return compiled


@pytest.fixture(scope="session")
def tiny_llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Hugging Face folder: 2 layers, hidden 32, a byte-level BPE of some 400 tokens, seeded weights."""
    folder = tmp_path_factory.mktemp("tiny-llama")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", bos_token="<|im_start|>", pad_token="<|im_end|>"
    )
    wrapped.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=2048,
        initializer_range=0.4,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def checkpoint(tiny_llama: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint of the tiny Llama with fresh heads."""
    from deg_core.model.backbone import Backbone
    from deg_core.model.bases import base_hash
    from deg_core.model.checkpoint import CheckpointMeta, save_checkpoint
    from deg_core.model.heads import Heads
    from deg_core.model.network import Network
    from deg_core.model.tokens import Tokens

    backbone = Backbone.load(tiny_llama, "cpu", torch.float32)
    torch.manual_seed(1)
    network = Network(backbone, Heads(backbone.shape.hidden), Tokens.load(tiny_llama))
    meta = CheckpointMeta(
        base=str(tiny_llama), base_hash=base_hash(tiny_llama), lora_rank=0, lora_alpha=1.0, lora_context="base", step=0
    )
    return save_checkpoint(tmp_path_factory.mktemp("checkpoint") / "final", network, meta)


FORM = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "order", "letter"]},
        "urgent": {"type": "boolean"},
        "level": {"type": "integer", "minimum": 1, "maximum": 5},
        "firm": {"type": ["string", "null"]},
        "total": {"type": ["number", "null"]},
        "people": {"type": "array", "maxItems": 3, "items": {"type": ["string", "null"]}},
    },
    "required": ["kind", "urgent", "level", "firm", "total", "people"],
}


@pytest.fixture
def records_file(tmp_path: Path) -> Callable[..., Path]:
    """Write a records file of n records a split, and more lines as they are given."""

    def write(n: int = 3, *more: str, splits: tuple[str, ...] = ("train", "val", "test")) -> Path:
        path = tmp_path / "forms.jsonl"
        lines = []
        for split in splits:
            for i in range(n):
                context = f"Invoice {i} of Miller{i} & Sons, total {i}.50 EUR. Ada{i} signed."
                people = [f"Ada{i}"] * (i % 2)
                value = {"kind": "order", "urgent": i % 2 == 0, "level": 1 + i % 5, "firm": f"Miller{i} & Sons"}
                value |= {"total": i + 0.5, "people": people}
                body = {"uid": f"{split}-{i}", "split": split, "context": context, "schema": FORM, "value": value}
                lines.append(json.dumps(body))
        path.write_text("\n".join([*lines, *more]) + "\n")
        return path

    return write
