"""What tests of several packages share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
TINY = {
    "vocab_size": 49152,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": True,
}


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny random Llama in float32 and the tokenizer of the embedded base.

    That base is converted once into deg-home of this repository and kept there.
    """
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    from deg_core.artifacts import Home
    from deg_core.model.bases import EMBEDDED, base_folder

    embedded = base_folder(EMBEDDED, Home(REPOSITORY / "deg-home"))
    folder = tmp_path_factory.mktemp("tiny-base")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        LlamaForCausalLM(LlamaConfig(**TINY)).save_pretrained(folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(embedded / name, folder / name)
    return folder


@pytest.fixture
def threads() -> Iterator[None]:
    """Put the number of threads back after a test that changes it."""
    import torch

    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)
