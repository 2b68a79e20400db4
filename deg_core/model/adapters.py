"""Low-rank adapters on the backbone's projections (LoRA, arXiv:2106.09685; contract section 12.7)."""

from __future__ import annotations

from collections.abc import Mapping

import torch

Adapters = dict[str, tuple[torch.Tensor, torch.Tensor]]


def fresh_adapters(
    targets: Mapping[str, tuple[int, int]], rank: int, seed: int, device: torch.device, dtype: torch.dtype
) -> Adapters:
    """name -> (A [rank, in], B [out, rank]); B is zero, so a fresh adapter changes nothing."""
    generator = torch.Generator().manual_seed(seed)
    adapters: Adapters = {}
    for name, (inputs, outputs) in targets.items():
        bound = inputs**-0.5
        down = (torch.rand(rank, inputs, generator=generator) * 2 - 1) * bound
        adapters[name] = (down.to(device, dtype), torch.zeros(outputs, rank, device=device, dtype=dtype))
    return adapters


def merge(weights: Mapping[str, torch.Tensor], adapters: Adapters, scale: float) -> dict[str, torch.Tensor]:
    """Weights with scale * B A added in float32; tensors without an adapter are shared."""
    merged = dict(weights)
    for name, (down, up) in adapters.items():
        delta = up.float() @ down.float()
        merged[name] = (weights[name].float() + scale * delta).to(weights[name].dtype)
    return merged
