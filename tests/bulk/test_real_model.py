"""The engine with the real runtime: worker processes that load a tiny random checkpoint."""

import json

import duckdb
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from deg_core import fill_many, load_model
from deg_core.artifacts import Home
from deg_core.bulk.engine import fill_corpus
from deg_core.config import FillSettings
from deg_core.model.backbone import Backbone
from deg_core.model.bases import base_hash
from deg_core.model.checkpoint import CheckpointMeta, save_checkpoint
from deg_core.model.heads import Heads
from deg_core.model.network import Network
from deg_core.model.tokens import Tokens
from deg_core.progress import Silent

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["invoice", "letter"]},
        "urgent": {"type": "boolean"},
        "total": {"type": ["number", "null"]},
        "who": {"type": "string"},
    },
    "required": ["kind", "urgent", "total", "who"],
}


@pytest.fixture(scope="module")
def tiny_checkpoint(tmp_path_factory):
    """A checkpoint of random heads on a random Llama whose tokens are bytes."""
    root = tmp_path_factory.mktemp("tiny")
    base = root / "base"
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: index for index, token in enumerate(["<|im_start|>", "<|im_end|>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|im_start|>", eos_token="<|im_end|>"
    ).save_pretrained(base)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    LlamaForCausalLM(config).save_pretrained(base)
    backbone = Backbone.load(base, "cpu", torch.float32)
    network = Network(backbone, Heads(backbone.shape.hidden), Tokens.load(base))
    meta = CheckpointMeta(str(base), base_hash(base), lora_rank=0, lora_alpha=1.0, lora_context="adapter", step=0)
    return save_checkpoint(root / "checkpoint", network, meta)


def test_a_bulk_fill_gives_what_fill_many_gives(tiny_checkpoint, tmp_path):
    texts = [f"Letter {number} from Ann to Bob about {number * 11} apples." for number in range(5)] + [""]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps({"doc_id": str(n), "text": text}) + "\n" for n, text in enumerate(texts)))
    home = Home(tmp_path / "home")
    settings = FillSettings(shard_documents=2, batch_documents=2, workers=2)
    manifest = fill_corpus(settings, home, Silent(), corpus=corpus, schema=SCHEMA, checkpoint=tiny_checkpoint)
    assert manifest.counts == {"read": 6, "filled": 5, "failed": 1}

    jobs = [{"context": text, "schema": SCHEMA, "options": settings.options.model_dump()} for text in texts[:5]]
    expected = fill_many(load_model(tiny_checkpoint, home=home), jobs)
    rows = duckdb.sql(
        f"SELECT value_json, model, plan, prompt_tokens, meta, value.urgent FROM '{manifest.path}/part-*.parquet' WHERE error IS NULL"
    ).fetchall()
    for response, (value, model, plan, prompt_tokens, meta, urgent) in zip(expected, rows, strict=True):
        assert (json.loads(value), model, plan) == (response["value"], response["model"], response["plan"])
        assert prompt_tokens == response["usage"]["prompt_tokens"] > 0 and urgent == response["value"]["urgent"]
        assert {entry["pointer"]: entry["probability"] for entry in meta} == {
            pointer: entry.get("probability") for pointer, entry in response["meta"].items()
        }
