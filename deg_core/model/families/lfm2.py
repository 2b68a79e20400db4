"""LFM2 and LFM2.5: gated short convolutions with grouped-query attention between them, and a gated MLP in every layer.

A convolution layer's state is its tail: the last J - 1 inputs of the convolution, [J - 1, E].

E = hidden width, H = query heads, G = key/value heads, D = head width, J = taps, N = flat tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from deg_core.contract.errors import InputError
from deg_core.model.attention import attend, extend
from deg_core.model.convolution import convolve
from deg_core.model.families.norm import rms_norm
from deg_core.model.families.rotary import Rotary, rotate
from deg_core.model.families.shape import ModelShape
from deg_core.model.projection import Projector
from deg_core.model.rows import Rows
from deg_core.model.state import LayerState

KINDS = ("conv", "full_attention")


class Lfm2:
    """The layer functions of the family; holds no weights."""

    def __init__(self, config: Mapping[str, Any]):
        heads, layers = int(config["num_attention_heads"]), int(config["num_hidden_layers"])
        self.kinds = _layer_kinds(config, layers)
        self.shape = ModelShape(
            hidden=int(config["hidden_size"]),
            layers=layers,
            intermediate=_intermediate(config),
            vocab=int(config["vocab_size"]),
            heads=heads,
            kv_heads=int(config["num_key_value_heads"]),
            head_dim=int(config.get("head_dim") or int(config["hidden_size"]) // heads),
        )
        if config.get("conv_bias"):
            raise InputError("biases in convolutions are not supported by the lfm2 family")
        self.eps = float(config.get("norm_eps", 1e-5))
        self.tied = bool(config.get("tie_embedding", config.get("tie_word_embeddings", True)))
        self._rotary = Rotary(_frequencies(config, self.shape.head_dim))

    def is_convolution(self, index: int) -> bool:
        """Whether a layer is a gated short convolution."""
        return self.kinds[index] == "conv"

    def targets(self) -> dict[str, tuple[int, int]]:
        """Projections that an adapter may change: name -> (in, out)."""
        shape = self.shape
        wide = shape.heads * shape.head_dim
        found = {}
        for i in range(shape.layers):
            if self.is_convolution(i):
                found[f"layers.{i}.bcx"] = (shape.hidden, 3 * shape.hidden)
                found[f"layers.{i}.out"] = (shape.hidden, shape.hidden)
            else:
                found[f"layers.{i}.qkv"] = (shape.hidden, wide + 2 * shape.kv_heads * shape.head_dim)
                found[f"layers.{i}.o"] = (wide, shape.hidden)
            found[f"layers.{i}.gate_up"] = (shape.hidden, 2 * shape.intermediate)
            found[f"layers.{i}.down"] = (shape.intermediate, shape.hidden)
        return found

    def load(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Hugging Face tensors to this family's: q, k, v fused, w1 and w3 fused."""
        weights = {"embed": tensors["model.embed_tokens.weight"], "norm": tensors["model.embedding_norm.weight"]}
        weights["lm_head"] = weights["embed"] if self.tied else tensors["lm_head.weight"]
        for i in range(self.shape.layers):
            block, name = f"model.layers.{i}", f"layers.{i}"
            if self.is_convolution(i):
                weights[f"{name}.bcx"] = tensors[f"{block}.conv.in_proj.weight"]
                weights[f"{name}.conv"] = tensors[f"{block}.conv.conv.weight"].squeeze(1)
                weights[f"{name}.out"] = tensors[f"{block}.conv.out_proj.weight"]
            else:
                attention = [tensors[f"{block}.self_attn.{part}_proj.weight"] for part in "qkv"]
                weights[f"{name}.qkv"] = torch.cat(attention)
                weights[f"{name}.o"] = tensors[f"{block}.self_attn.out_proj.weight"]
                for part in "qk":
                    weights[f"{name}.{part}_norm"] = tensors[f"{block}.self_attn.{part}_layernorm.weight"]
            weights[f"{name}.gate_up"] = torch.cat([tensors[f"{block}.feed_forward.w{part}.weight"] for part in "13"])
            weights[f"{name}.down"] = tensors[f"{block}.feed_forward.w2.weight"]
            weights[f"{name}.input_norm"] = tensors[f"{block}.operator_norm.weight"]
            weights[f"{name}.post_norm"] = tensors[f"{block}.ffn_norm.weight"]
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
        name = f"layers.{index}"
        h = self.norm(x_NE, project.weights[f"{name}.input_norm"], project.exact)
        if self.is_convolution(index):
            out, own = self._convolution(index, h, project, rows)
        else:
            out, own = self._attention(index, h, project, rotary, rows, grouped)
        x_NE = x_NE + out
        h = self.norm(x_NE, project.weights[f"{name}.post_norm"], project.exact)
        return x_NE + project.mlp(name, h), own

    def _convolution(
        self, index: int, h_NE: torch.Tensor, project: Projector, rows: Rows
    ) -> tuple[torch.Tensor, list[LayerState]]:
        name = f"layers.{index}"
        before, after, x = project(f"{name}.bcx", h_NE).chunk(3, -1)
        states = [rows.before(row, index) for row in range(len(rows))]
        tails = [state[0] if state else None for state in states]
        y, own = convolve(before * x, project.weights[f"{name}.conv"], rows, tails, exact=project.exact)
        return project(f"{name}.out", after * y.to(h_NE.dtype)), [(tail,) for tail in own]

    def _attention(
        self,
        index: int,
        h_NE: torch.Tensor,
        project: Projector,
        rotary: tuple[torch.Tensor, torch.Tensor],
        rows: Rows,
        grouped: bool,
    ) -> tuple[torch.Tensor, list[LayerState]]:
        name, shape = f"layers.{index}", self.shape
        sizes = (shape.heads, shape.kv_heads, shape.kv_heads)
        q, k, v = project(f"{name}.qkv", h_NE).unflatten(-1, (-1, shape.head_dim)).split(sizes, 1)
        q, k = (
            rotate(self.norm(x, project.weights[f"{name}.{part}_norm"], project.exact), *rotary, project.exact)
            for part, x in (("q", q), ("k", k))
        )
        out, own = attend(q, k, v, rows, index, grouped)
        return project(f"{name}.o", out), own

    def grows(self, index: int) -> bool:
        """Whether a layer's state grows with every token (keys and values); any other is rewritten."""
        return not self.is_convolution(index)

    def keep(self, index: int, prefix: LayerState | None, own: LayerState) -> LayerState:
        """The layer's state after a row, from its prefix's and its own."""
        if self.grows(index):
            return extend(prefix, own)
        return tuple(tensor.clone() for tensor in own)

    def norm(self, x: torch.Tensor, weight: torch.Tensor, exact: bool = False) -> torch.Tensor:
        """RMS norm over the last dimension."""
        return rms_norm(x, weight, self.eps, exact=exact)


def _layer_kinds(config: Mapping[str, Any], layers: int) -> tuple[str, ...]:
    full = config.get("full_attn_idxs")
    attention = range(layers) if full is None else full
    kinds = tuple(config.get("layer_types") or (KINDS[i in attention] for i in range(layers)))
    if len(kinds) != layers or set(kinds) - set(KINDS):
        raise InputError(f"layer_types must name one of {', '.join(KINDS)} for each of the {layers} layers: {kinds}")
    return kinds


def _intermediate(config: Mapping[str, Any]) -> int:
    """The width of the MLP; with block_auto_adjust_ff_dim two thirds of what the config says, rounded up."""
    width = int(config.get("block_ff_dim") or config["intermediate_size"])
    if not config.get("block_auto_adjust_ff_dim", True):
        return width
    width = int(2 * width / 3)
    multiplier = config.get("block_ffn_dim_multiplier", 1.0)
    if multiplier is None:
        return width
    multiple = int(config.get("block_multiple_of", 256))
    return multiple * (-(-int(multiplier * width) // multiple))


def _frequencies(config: Mapping[str, Any], head_dim: int) -> torch.Tensor:
    """Rotary frequencies float32 [D / 2]."""
    parameters = config.get("rope_parameters") or {}
    kind = parameters.get("rope_type") or "default"
    if kind != "default" or config.get("rope_scaling"):
        raise InputError(f"rope scaling {kind!r} is not supported by the lfm2 family; use a base without it")
    theta = float(parameters.get("rope_theta") or config.get("rope_theta") or 1_000_000.0)
    return theta ** (-torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
