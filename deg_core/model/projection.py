"""Linear projections: plain, with a low-rank adapter, or cut into fixed tiles for exact repeatability."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F  # noqa: N812 - the name that torch's own documentation uses

TILE = 64
DECODE_TILE = 8


class Projector:
    """Applies named weights to flat tokens.

    weights: name -> [out, in]. adapters: name -> (A [r, in], B [out, r]); the output gains
    scale * B A x (LoRA, arXiv:2106.09685). tile: 0 = one GEMM over all tokens; else the tokens are cut
    into tiles of that many rows, so that a row's bits do not depend on what is computed beside it
    (the flat tensor must be a multiple of the tile long).
    """

    def __init__(
        self,
        weights: Mapping[str, torch.Tensor],
        adapters: Mapping[str, tuple[torch.Tensor, torch.Tensor]] | None = None,
        scale: float = 1.0,
        tile: int = 0,
    ):
        self.weights = weights
        self.adapters = adapters or {}
        self.scale = scale
        self.tile = tile

    def __call__(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """x [N, in] to [N, out]."""
        weight = self.weights[name]
        if self.tile:
            return tiled_linear(x, weight, self.tile)
        y = F.linear(x, weight)
        if name in self.adapters:
            down, up = self.adapters[name]
            y = torch.addmm(y, F.linear(x, down), up.t(), alpha=self.scale)
        return y


def tiled_linear(x: torch.Tensor, weight: torch.Tensor, tile: int) -> torch.Tensor:
    """x [N, in] times weight [out, in] transposed, one GEMM of `tile` rows at a time; no gradient."""
    if x.shape[0] % tile:
        raise ValueError(f"{x.shape[0]} tokens are not a multiple of the tile {tile}")
    out = x.new_empty(x.shape[0], weight.shape[0])
    transposed = weight.t()
    for start in range(0, x.shape[0], tile):
        torch.mm(x[start : start + tile], transposed, out=out[start : start + tile])
    return out
