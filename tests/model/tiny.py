"""Tiny random backbones of every family, with a byte-level tokenizer trained here."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    Lfm2Config,
    Lfm2ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    Qwen3_5ForCausalLM,
    Qwen3_5TextConfig,
)

from deg_core.model.adapters import Adapters, fresh_adapters
from deg_core.model.backbone import Backbone
from deg_core.model.bases import base_hash
from deg_core.model.checkpoint import CheckpointMeta, save_checkpoint
from deg_core.model.fork import first_word_token
from deg_core.model.heads import Heads
from deg_core.model.network import Network
from deg_core.model.projection import int8_is_exact
from deg_core.model.tokens import Tokens

# float32 sums in another order than the reference's; contract section 12.1 asks for 1e-3, seen are 4e-6
REFERENCE_TOLERANCE = 2e-5
# the same sums of our own, cut at other places
ORDER_TOLERANCE = 2e-5
# gradients add up the differences of all layers
GRADIENT_TOLERANCE = 2e-4

NEEDS_INT8 = pytest.mark.skipif(not int8_is_exact(), reason="this CPU does not add up products of bytes exactly")

CORPUS = [
    "Invoice 4711 of Miller & Sons, due 2024-05-01, total 12.50 EUR. The customer is angry.",
    "FIELD /kind\nKIND: choice\nOPTIONS:\n- invoice\n- letter\nANSWER: yes no\nKNOWN VALUES:\nWRITE /note\nVALUE:",
]
# more rows than the tokenizer has tokens, as real models have
VOCABULARY = 420


def write_tokenizer(folder: Path) -> None:
    """A byte-level BPE with ChatML's special tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(CORPUS * 3, trainer)
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", bos_token="<|im_start|>")
    wrapped.save_pretrained(folder)


def llama_model() -> LlamaForCausalLM:
    """2 layers, grouped-query attention, untied head."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=48,
        intermediate_size=96,
        num_hidden_layers=2,
        num_attention_heads=6,
        num_key_value_heads=2,
        max_position_embeddings=32768,
        initializer_range=0.2,
    )
    return LlamaForCausalLM(config).eval()


def qwen_model(layers: int = 4, heads: int = 4) -> Qwen3_5ForCausalLM:
    """Gated DeltaNet layers and last an attention layer; norms and time steps away from where they start."""
    torch.manual_seed(0)
    config = Qwen3_5TextConfig(
        vocab_size=VOCABULARY,
        hidden_size=64,
        intermediate_size=96,
        num_hidden_layers=layers,
        layer_types=["linear_attention"] * (layers - 1) + ["full_attention"],
        num_attention_heads=heads,
        num_key_value_heads=2,
        head_dim=32,
        linear_key_head_dim=16,
        linear_value_head_dim=8,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        tie_word_embeddings=True,
        initializer_range=0.1,
    )
    return _perturbed(Qwen3_5ForCausalLM(config).eval())


def lfm_model() -> Lfm2ForCausalLM:
    """Short convolutions and last an attention layer; an MLP width that is adjusted and rounded."""
    torch.manual_seed(0)
    config = Lfm2Config(
        vocab_size=VOCABULARY,
        hidden_size=48,
        intermediate_size=130,
        block_multiple_of=16,
        num_hidden_layers=3,
        layer_types=["conv", "conv", "full_attention"],
        num_attention_heads=6,
        num_key_value_heads=2,
        initializer_range=0.2,
    )
    return _perturbed(Lfm2ForCausalLM(config).eval())


def _perturbed(model):
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name or name.endswith("dt_bias"):
                parameter.add_(torch.randn_like(parameter) * 0.3)
    return model


MODELS = {"lfm2": lfm_model, "llama": llama_model, "qwen3.5": qwen_model}


def fresh_network(base: Path, rank: int = 0, dtype: torch.dtype = torch.float32) -> Network:
    """Fresh heads on a base; with a rank, adapters that change something."""
    backbone = Backbone.load(base, "cpu", dtype)
    tokens = Tokens.load(base)
    yes_no = (first_word_token(tokens, "yes"), first_word_token(tokens, "no"))
    heads = Heads.fresh(backbone.weights["lm_head"], yes_no, seed=5)
    return Network(backbone, heads, tokens, adapters(backbone, rank) if rank else {}, 2.0)


def adapters(backbone: Backbone, rank: int) -> Adapters:
    """Adapters of which both halves are random."""
    found = fresh_adapters(backbone.family.targets(), rank, 3, backbone.device, backbone.dtype)
    generator = torch.Generator().manual_seed(4)
    for _, up in found.values():
        up.copy_(torch.randn(up.shape, generator=generator) * 0.05)
    return found


def write_checkpoint(folder: Path, base: Path, rank: int = 0) -> tuple[Network, CheckpointMeta, Path]:
    """A checkpoint of fresh_network."""
    network = fresh_network(base, rank)
    meta = CheckpointMeta(str(base), base_hash(base), rank, 2.0 * rank, "adapter", step=7)
    return network, meta, save_checkpoint(folder, network, meta)


def relative_error(found: torch.Tensor, expected: torch.Tensor) -> float:
    """Norm of the difference over the norm of what was expected."""
    return ((found - expected).norm() / expected.norm()).item()


def random_ids(length: int, seed: int = 0) -> torch.Tensor:
    """int64 [length], ordinary tokens."""
    return torch.randint(3, VOCABULARY, (length,), generator=torch.Generator().manual_seed(seed))
