"""Llama-style decoders: attention and gated MLP in every layer (SmolLM2, Llama 2 and 3).

H = query heads, G = key/value heads, D = head width, N = flat tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from deg_core.contract.errors import InputError
from deg_core.model.attention import attend, extend
from deg_core.model.families.norm import rms_norm
from deg_core.model.families.rotary import Rotary, rotate
from deg_core.model.families.shape import ModelShape
from deg_core.model.projection import Projector
from deg_core.model.rows import Rows
from deg_core.model.state import LayerState


class Llama:
    """The layer functions of the family; holds no weights."""

    def __init__(self, config: Mapping[str, Any]):
        scaling = config.get("rope_scaling") or {}
        parameters = config.get("rope_parameters") or {}
        kind = scaling.get("rope_type") or scaling.get("type") or parameters.get("rope_type") or "default"
        if kind != "default":
            raise InputError(f"rope scaling {kind!r} is not supported by the llama family; use a base without it")
        if config.get("attention_bias") or config.get("mlp_bias"):
            raise InputError("biases in projections are not supported by the llama family")
        heads = int(config["num_attention_heads"])
        self.shape = ModelShape(
            hidden=int(config["hidden_size"]),
            layers=int(config["num_hidden_layers"]),
            intermediate=int(config["intermediate_size"]),
            vocab=int(config["vocab_size"]),
            heads=heads,
            kv_heads=int(config.get("num_key_value_heads") or heads),
            head_dim=int(config.get("head_dim") or int(config["hidden_size"]) // heads),
        )
        self.eps = float(config.get("rms_norm_eps", 1e-6))
        self.tied = bool(config.get("tie_word_embeddings", False))
        theta = float(parameters.get("rope_theta") or config.get("rope_theta") or 10000.0)
        width = self.shape.head_dim
        self._rotary = Rotary(theta ** (-torch.arange(0, width, 2, dtype=torch.float32) / width))

    def targets(self) -> dict[str, tuple[int, int]]:
        """Projections that an adapter may change: name -> (in, out)."""
        shape = self.shape
        qkv = (shape.heads + 2 * shape.kv_heads) * shape.head_dim
        found = {}
        for i in range(shape.layers):
            found[f"layers.{i}.qkv"] = (shape.hidden, qkv)
            found[f"layers.{i}.o"] = (shape.heads * shape.head_dim, shape.hidden)
            found[f"layers.{i}.gate_up"] = (shape.hidden, 2 * shape.intermediate)
            found[f"layers.{i}.down"] = (shape.intermediate, shape.hidden)
        return found

    def load(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Hugging Face tensors to this family's: q, k, v fused, gate and up fused."""
        weights = {"embed": tensors["model.embed_tokens.weight"], "norm": tensors["model.norm.weight"]}
        weights["lm_head"] = weights["embed"] if self.tied else tensors["lm_head.weight"]
        for i in range(self.shape.layers):
            block, name = f"model.layers.{i}", f"layers.{i}"
            attention = [tensors[f"{block}.self_attn.{part}_proj.weight"] for part in "qkv"]
            weights[f"{name}.qkv"] = torch.cat(attention)
            weights[f"{name}.o"] = tensors[f"{block}.self_attn.o_proj.weight"]
            weights[f"{name}.gate_up"] = torch.cat(
                [tensors[f"{block}.mlp.{part}_proj.weight"] for part in ("gate", "up")]
            )
            weights[f"{name}.down"] = tensors[f"{block}.mlp.down_proj.weight"]
            weights[f"{name}.input_norm"] = tensors[f"{block}.input_layernorm.weight"]
            weights[f"{name}.post_norm"] = tensors[f"{block}.post_attention_layernorm.weight"]
        return weights

    def rotary(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin [N, 1, D] in dtype."""
        return self._rotary.table(positions, dtype)

    def layer(
        self,
        index: int,
        x_NE: torch.Tensor,
        project: Projector,
        rotary: tuple[torch.Tensor, torch.Tensor],
        rows: Rows,
        grouped: bool,
    ) -> tuple[torch.Tensor, list[LayerState]]:
        """One layer over all rows: hidden [N, E] and each row's own layer state."""
        name, shape = f"layers.{index}", self.shape
        h = self.norm(x_NE, project.weights[f"{name}.input_norm"], project.exact)
        qkv = project(f"{name}.qkv", h).view(-1, shape.heads + 2 * shape.kv_heads, shape.head_dim)
        qk = rotate(qkv[:, : shape.heads + shape.kv_heads], *rotary, project.exact)
        out, own = attend(
            qk[:, : shape.heads], qk[:, shape.heads :], qkv[:, shape.heads + shape.kv_heads :], rows, index, grouped
        )
        x_NE = x_NE + project(f"{name}.o", out)
        h = self.norm(x_NE, project.weights[f"{name}.post_norm"], project.exact)
        return x_NE + project.mlp(name, h), own

    def grows(self, index: int) -> bool:
        """Whether a layer's state grows with every token (keys and values); any other is rewritten."""
        del index
        return True

    def keep(self, index: int, prefix: LayerState | None, own: LayerState) -> LayerState:
        """The layer's state after a row, from its prefix's and its own."""
        del index
        return extend(prefix, own)

    def norm(self, x: torch.Tensor, weight: torch.Tensor, exact: bool = False) -> torch.Tensor:
        """RMS norm over the last dimension."""
        return rms_norm(x, weight, self.eps, exact=exact)
