"""Qwen3.5: Gated DeltaNet layers with gated attention between them, and a gated MLP in every layer.

The text model (qwen3_5_text) or the one inside the multimodal model (qwen3_5), whose positions are plain ones
for text. Norms weigh with 1 + w. A DeltaNet layer's state is (recurrent float32 [H, K, V], tail [J - 1, C]).

H = value heads (query heads in attention), K = key width, V = value width, C = channels of the convolution,
J = its taps, G = key/value heads, D = head width, R = rotary width, N = flat tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812

from deg_core.contract.errors import InputError
from deg_core.kernels.select import takes
from deg_core.model.activation import sigmoid, softplus
from deg_core.model.attention import attend, extend
from deg_core.model.convolution import convolve
from deg_core.model.delta import DeltaInputs, delta_rule, kernel_delta_rule
from deg_core.model.families.norm import gated_rms_norm, rms_norm
from deg_core.model.families.rotary import Rotary, rotate
from deg_core.model.families.shape import ModelShape
from deg_core.model.projection import Projector
from deg_core.model.rows import Rows
from deg_core.model.state import LayerState

KEY_EPS = 1e-6
KINDS = ("linear_attention", "full_attention")


class Qwen35:
    """The layer functions of the family; holds no weights."""

    def __init__(self, config: Mapping[str, Any]):
        text = config.get("text_config", config)
        heads, layers = int(text["num_attention_heads"]), int(text["num_hidden_layers"])
        self.shape = ModelShape(
            hidden=int(text["hidden_size"]),
            layers=layers,
            intermediate=int(text["intermediate_size"]),
            vocab=int(text["vocab_size"]),
            heads=heads,
            kv_heads=int(text["num_key_value_heads"]),
            head_dim=int(text.get("head_dim") or int(text["hidden_size"]) // heads),
        )
        self.kinds = _layer_kinds(text, layers)
        self.key_heads, self.value_heads = int(text["linear_num_key_heads"]), int(text["linear_num_value_heads"])
        self.key_dim, self.value_dim = int(text["linear_key_head_dim"]), int(text["linear_value_head_dim"])
        self.keys, self.values = self.key_heads * self.key_dim, self.value_heads * self.value_dim
        self.channels = 2 * self.keys + self.values
        self.eps = float(text.get("rms_norm_eps", 1e-6))
        self.tied = bool(config.get("tie_word_embeddings", text.get("tie_word_embeddings", False)))
        _refuse_unknown(text, self.key_heads, self.value_heads)
        self._rotary = Rotary(_frequencies(text, self.shape.head_dim))

    def is_linear(self, index: int) -> bool:
        """Whether a layer is a Gated DeltaNet layer."""
        return self.kinds[index] == "linear_attention"

    def targets(self) -> dict[str, tuple[int, int]]:
        """Projections that an adapter may change: name -> (in, out)."""
        shape = self.shape
        wide = shape.heads * shape.head_dim
        found = {}
        for i in range(shape.layers):
            if self.is_linear(i):
                found[f"layers.{i}.qkvz"] = (shape.hidden, self.channels + self.values)
                found[f"layers.{i}.ba"] = (shape.hidden, 2 * self.value_heads)
                found[f"layers.{i}.out"] = (self.values, shape.hidden)
            else:
                found[f"layers.{i}.qkvg"] = (shape.hidden, 2 * wide + 2 * shape.kv_heads * shape.head_dim)
                found[f"layers.{i}.o"] = (wide, shape.hidden)
            found[f"layers.{i}.gate_up"] = (shape.hidden, 2 * shape.intermediate)
            found[f"layers.{i}.down"] = (shape.intermediate, shape.hidden)
        return found

    def load(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """Hugging Face tensors to this family's: projections of one input fused; vision and MTP left out."""
        inner = "model.language_model"
        root = inner if f"{inner}.embed_tokens.weight" in tensors else "model"
        weights = {"embed": tensors[f"{root}.embed_tokens.weight"], "norm": tensors[f"{root}.norm.weight"]}
        weights["lm_head"] = weights["embed"] if self.tied else tensors["lm_head.weight"]
        for i in range(self.shape.layers):
            block, name = f"{root}.layers.{i}", f"layers.{i}"
            load = self._load_linear if self.is_linear(i) else self._load_attention
            weights |= {f"{name}.{part}": tensor for part, tensor in load(tensors, block).items()}
            weights[f"{name}.gate_up"] = torch.cat(
                [tensors[f"{block}.mlp.{part}_proj.weight"] for part in ("gate", "up")]
            )
            weights[f"{name}.down"] = tensors[f"{block}.mlp.down_proj.weight"]
            weights[f"{name}.input_norm"] = tensors[f"{block}.input_layernorm.weight"]
            weights[f"{name}.post_norm"] = tensors[f"{block}.post_attention_layernorm.weight"]
        return weights

    def _load_linear(self, tensors: Mapping[str, torch.Tensor], block: str) -> dict[str, torch.Tensor]:
        name = f"{block}.linear_attn"
        qkv, z, b, a = (tensors[f"{name}.in_proj_{part}.weight"] for part in ("qkv", "z", "b", "a"))
        return {
            "qkvz": torch.cat((qkv, z)),
            "ba": torch.cat((b, a)),
            "conv": tensors[f"{name}.conv1d.weight"].squeeze(1),
            "a_log": tensors[f"{name}.A_log"],
            "dt_bias": tensors[f"{name}.dt_bias"],
            "delta_norm": tensors[f"{name}.norm.weight"],
            "out": tensors[f"{name}.out_proj.weight"],
        }

    def _load_attention(self, tensors: Mapping[str, torch.Tensor], block: str) -> dict[str, torch.Tensor]:
        """The query projection holds each head's query and then its gate; put all gates last."""
        name = f"{block}.self_attn"
        q, k, v = (tensors[f"{name}.{part}_proj.weight"] for part in "qkv")
        query, gate = q.unflatten(0, (self.shape.heads, 2, self.shape.head_dim)).unbind(1)
        return {
            "qkvg": torch.cat((query.flatten(0, 1), k, v, gate.flatten(0, 1))),
            "q_norm": tensors[f"{name}.q_norm.weight"],
            "k_norm": tensors[f"{name}.k_norm.weight"],
            "o": tensors[f"{name}.o_proj.weight"],
        }

    def rotary(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin [N, 1, R] in dtype."""
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
        if self.is_linear(index):
            out, own = self._delta_net(index, h, project, rows, grouped)
        else:
            out, own = self._attention(index, h, project, rotary, rows, grouped)
        x_NE = x_NE + out
        h = self.norm(x_NE, project.weights[f"{name}.post_norm"], project.exact)
        return x_NE + project.mlp(name, h), own

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
        sizes = (shape.heads, shape.kv_heads, shape.kv_heads, shape.heads)
        q, k, v, gate = project(f"{name}.qkvg", h_NE).unflatten(-1, (-1, shape.head_dim)).split(sizes, 1)
        q, k = (
            _rotate_part(self.norm(x, project.weights[f"{name}.{part}_norm"], project.exact), *rotary, project.exact)
            for part, x in (("q", q), ("k", k))
        )
        out, own = attend(q, k, v, rows, index, grouped)
        gated = (out * sigmoid(gate.flatten(1), not grouped)).to(out.dtype)
        return project(f"{name}.o", gated), own

    def _delta_net(
        self, index: int, h_NE: torch.Tensor, project: Projector, rows: Rows, grouped: bool
    ) -> tuple[torch.Tensor, list[LayerState]]:
        name, exact, weights = f"layers.{index}", not grouped, project.weights
        before = [rows.before(row, index) for row in range(len(rows))]
        qkv, z = project(f"{name}.qkvz", h_NE).split((self.channels, self.values), -1)
        tails = [state[1] if state else None for state in before]
        mixed, after = convolve(qkv, weights[f"{name}.conv"], rows, tails, activated=True, exact=exact)
        q, k, v = mixed.split((self.keys, self.keys, self.values), -1)
        b, a = project(f"{name}.ba", h_NE).float().chunk(2, -1)
        steps = softplus(a + weights[f"{name}.dt_bias"].float(), exact)
        inputs = DeltaInputs(
            q=self._unit(q, exact) * self.key_dim**-0.5,
            k=self._unit(k, exact),
            v=v.unflatten(-1, (self.value_heads, self.value_dim)),
            decay=-weights[f"{name}.a_log"].float().exp() * steps,
            beta=sigmoid(b, exact),
        )
        first = [state[0] if state else None for state in before]
        if exact and takes(h_NE):
            out, states = kernel_delta_rule(inputs, rows, first, index, h_NE.dtype)
        else:
            out, states = delta_rule(inputs, rows, first, grouped)
        out = F.pad(out, (0, 0, 0, 0, 0, h_NE.shape[0] - rows.tokens)).to(h_NE.dtype)
        gated = gated_rms_norm(out, weights[f"{name}.delta_norm"], z, self.eps, exact)
        return project(f"{name}.out", gated), list(zip(states, after, strict=True))

    def _unit(self, x: torch.Tensor, exact: bool) -> torch.Tensor:
        """Unit vectors [N, H, K] of each key head, repeated for its value heads."""
        x = x.unflatten(-1, (self.key_heads, self.key_dim))
        unit = rms_norm(x, None, KEY_EPS / self.key_dim, exact=exact) * self.key_dim**-0.5
        shared = self.value_heads // self.key_heads
        return unit if shared == 1 else unit.repeat_interleave(shared, 1)

    def grows(self, index: int) -> bool:
        """Whether a layer's state grows with every token (keys and values); any other is rewritten."""
        return not self.is_linear(index)

    def keep(self, index: int, prefix: LayerState | None, own: LayerState) -> LayerState:
        """The layer's state after a row, from its prefix's and its own."""
        if self.grows(index):
            return extend(prefix, own)
        return tuple(tensor.clone() for tensor in own)

    def norm(self, x: torch.Tensor, weight: torch.Tensor, exact: bool = False) -> torch.Tensor:
        """RMS norm over the last dimension, weighed with 1 + w in float32."""
        return rms_norm(x, weight, self.eps, offset=1.0, exact=exact)


def _layer_kinds(text: Mapping[str, Any], layers: int) -> tuple[str, ...]:
    every = int(text.get("full_attention_interval") or 4)
    kinds = tuple(text.get("layer_types") or (KINDS[(i + 1) % every == 0] for i in range(layers)))
    if len(kinds) != layers or set(kinds) - set(KINDS):
        raise InputError(f"layer_types must name one of {', '.join(KINDS)} for each of the {layers} layers: {kinds}")
    return kinds


def _refuse_unknown(text: Mapping[str, Any], key_heads: int, value_heads: int) -> None:
    if value_heads % key_heads:
        raise InputError(f"{value_heads} value heads are not a multiple of the {key_heads} key heads")
    if text.get("attention_bias"):
        raise InputError("biases in projections are not supported by the qwen3.5 family")
    if text.get("attn_output_gate") is False:
        raise InputError("attention without an output gate is not supported by the qwen3.5 family")
    if text.get("hidden_act", "silu") != "silu":
        raise InputError(f"the activation {text['hidden_act']!r} is not supported by the qwen3.5 family; it needs silu")


def _frequencies(text: Mapping[str, Any], head_dim: int) -> torch.Tensor:
    """Rotary frequencies float32 [R / 2] of the part of a head that rotates."""
    parameters = text.get("rope_parameters") or text.get("rope_scaling") or {}
    kind = parameters.get("rope_type") or parameters.get("type") or "default"
    if kind not in ("default", "mrope"):
        raise InputError(f"rope scaling {kind!r} is not supported by the qwen3.5 family; use a base without it")
    theta = float(parameters.get("rope_theta") or text.get("rope_theta") or 10000.0)
    share = float(parameters.get("partial_rotary_factor") or text.get("partial_rotary_factor") or 0.25)
    width = int(head_dim * share)
    return theta ** (-torch.arange(0, width, 2, dtype=torch.float32) / width)


def _rotate_part(x_NHD: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, exact: bool) -> torch.Tensor:
    """Rotate the first R of each head's dimensions."""
    turned, kept = x_NHD.split((cos.shape[-1], x_NHD.shape[-1] - cos.shape[-1]), -1)
    return torch.cat((rotate(turned, cos, sin, exact), kept), -1)
