"""Sizes that the planner, the heads and the tests need of any family."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelShape:
    """hidden, intermediate: widths. heads, kv_heads, head_dim: attention. layers, vocab: counts."""

    hidden: int
    layers: int
    intermediate: int
    vocab: int
    heads: int
    kv_heads: int
    head_dim: int
