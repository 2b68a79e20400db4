"""A backbone folder with a small byte-level tokenizer, and records to write."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

from deg_core.artifacts import Home
from deg_core.model.tokens import Tokens

TEXTS = [
    "FIELD /total ITEM 0 of /items KIND: number CONSTRAINTS: at least 0 OPTIONS: - billing - shipping ANSWER:",
    "The invoice of 3 May 2026 comes to 1,250.00 EUR, payable by bank transfer. DESCRIPTION: what the text says",
]
SCHEMA = {
    "type": "object",
    "properties": {
        "department": {"enum": ["billing", "shipping", "sales"]},
        "urgent": {"type": "boolean"},
        "anger": {"type": ["integer", "null"], "minimum": 0, "maximum": 3},
        "customer": {"type": ["string", "null"]},
        "items": {
            "type": "array",
            "maxItems": 4,
            "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
        "summary": {"type": "string", "x-generate": True},
    },
    "required": ["department", "urgent", "anger", "customer", "items", "summary"],
}


def make_record(number: int, **changes) -> dict:
    """A valid record with every head; `changes` replace top-level keys, None removes one."""
    context = f"Case {number}: Ada Byron wrote to shipping about a red lamp and a blue chair. She is calm."
    record = {
        "uid": f"case/{number}",
        "split": "val" if number % 10 == 9 else "train",
        "context": context,
        "schema": SCHEMA,
        "value": {
            "department": "shipping",
            "urgent": number % 2 == 0,
            "anger": None if number % 3 == 0 else 1,
            "customer": "Ada Byron",
            "items": [{"name": "red lamp"}, {"name": "blue chair"}],
            "summary": "Ada asks about a lamp and a chair.",
        },
        "spans": {
            "/customer": place(context, "Ada Byron"),
            "/items/0/name": place(context, "red lamp"),
            "/items/1/name": place(context, "blue chair"),
        },
    } | changes
    return {key: value for key, value in record.items() if value is not None}


def place(context: str, text: str) -> list[int]:
    start = context.index(text)
    return [start, start + len(text)]


def to_lines(records: list[dict]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@pytest.fixture
def write(tmp_path: Path) -> Callable[[bytes], Path]:
    """Writes bytes as a records file and returns its path."""

    def to_file(data: bytes, name: str = "records.jsonl") -> Path:
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return to_file


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"")
    return folder


@pytest.fixture(scope="session")
def tokens(base: Path) -> Tokens:
    return Tokens.load(base)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")
