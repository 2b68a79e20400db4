"""Models of a known shape with random weights, to time what does not depend on the weights' values."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch

from deg_core.artifacts import Home
from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.bases import EMBEDDED, base_folder, base_hash
from deg_core.model.checkpoint import CheckpointMeta
from deg_core.model.model import Model, pick_precision
from deg_core.training.setup import build_network

TOKENIZER = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja")
SHAPES: dict[str, dict[str, Any]] = {
    "qwen3.5-0.8b": {
        "vocab_size": 248320,
        "hidden_size": 1024,
        "intermediate_size": 3584,
        "num_hidden_layers": 24,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "head_dim": 256,
        "linear_num_key_heads": 16,
        "linear_num_value_heads": 16,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "tie_word_embeddings": True,
    },
    "qwen3.5-tiny": {
        "vocab_size": 49152,
        "hidden_size": 128,
        "intermediate_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "linear_num_key_heads": 4,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 32,
        "linear_value_head_dim": 32,
        "linear_conv_kernel_dim": 4,
        "tie_word_embeddings": True,
    },
}
"""Qwen3.5 shapes, of which the layers of attention are every fourth: the smallest that is published, and one to test
memory with."""


def random_model(shape: str, dtype: str, folder: Path, home: Home) -> Model:
    """A model of one of SHAPES with fresh heads and no adapters; the tokenizer is the embedded base's.

    folder: empty, gets the weights as a Hugging Face folder, so that the baseline can read them too. Raises InputError
    for another shape.
    """
    from transformers import AutoModelForCausalLM, Qwen3_5TextConfig

    if shape not in SHAPES:
        raise InputError(f"shape {shape!r} is none of {', '.join(SHAPES)}")
    torch.manual_seed(1)
    made: Any = AutoModelForCausalLM.from_config(Qwen3_5TextConfig(**SHAPES[shape]), dtype=torch.bfloat16)
    made.save_pretrained(folder)
    for name in TOKENIZER:
        source = base_folder(EMBEDDED, home) / name
        if source.is_file():
            shutil.copy(source, folder / name)
    device = torch.device("cpu")
    compute, rounded = pick_precision(dtype, device)
    settings = TrainSettings(base=str(folder), init="fresh", lora_rank=0)
    network = build_network(settings, folder, None, home, device, compute)
    network.int8 = rounded
    network.heads.requires_grad_(False)
    meta = CheckpointMeta(
        base=str(folder), base_hash=base_hash(folder), lora_rank=0, lora_alpha=1.0, lora_context="base", step=0
    )
    return Model(network, meta, folder, folder)
