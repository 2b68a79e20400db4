"""Linear projections: plain, with a low-rank adapter, or exactly repeatable: in fixed tiles, or in whole numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812 - the name that torch's own documentation uses

from deg_core.kernels.select import takes

TILE = 64
DECODE_TILE = 8
ZERO_POINT = 128
SMALLEST = 1e-12


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

    @property
    def exact(self) -> bool:
        """Whether a row's bits depend on that row alone; there is no gradient then."""
        return bool(self.tile)

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


@dataclass(frozen=True)
class Int8Weight:
    """A weight in int8 with one scale for each output: packed [in, out] as oneDNN wants it, scales float32 [out]."""

    packed: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor

    @classmethod
    def of(cls, weight: torch.Tensor) -> Int8Weight:
        """Round a weight [out, in] to the nearest of 255 values for each output; CPU."""
        scales = weight.float().abs().amax(1).clamp_min(SMALLEST) / 127
        rounded = (weight.float() / scales[:, None]).round_().to(torch.int8)
        return cls(torch.ops.onednn.qlinear_prepack(rounded, None), scales, torch.zeros_like(scales, dtype=torch.int32))


class Int8Projector(Projector):
    """Applies named int8 weights to flat tokens rounded to int8, one scale for each token.

    Sums of products of whole numbers are exact in any order, so a row's bits depend on that row alone without tiles.
    weights: all of the model's, of which the norms and the like are used; int8: those of the projections.
    """

    def __init__(self, weights: Mapping[str, torch.Tensor], int8: Mapping[str, Int8Weight]):
        super().__init__(weights)
        self.int8 = int8

    @property
    def exact(self) -> bool:
        return True

    def __call__(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """x [N, in] to [N, out] in the dtype of x."""
        weight = self.int8[name]
        wide = x.float()
        scales = wide.abs().amax(-1, keepdim=True).clamp_min_(SMALLEST).div_(127)
        rounded = (wide / scales).round_().add_(ZERO_POINT).to(torch.uint8)
        y = torch.ops.onednn.qlinear_pointwise(
            rounded,
            1.0,
            ZERO_POINT,
            weight.packed,
            weight.scales,
            weight.zeros,
            None,
            1.0,
            0,
            torch.float32,
            "none",
            [],
            "",
        )
        return y.mul_(scales).to(x.dtype)


def tiled_linear(x: torch.Tensor, weight: torch.Tensor, tile: int) -> torch.Tensor:
    """x [N, in] times weight [out, in] transposed, one GEMM of `tile` rows at a time; no gradient.

    On CUDA a kernel does it, whose tiles are its own: one for DECODE_TILE, another for larger tiles.
    """
    if x.shape[0] % tile:
        raise ValueError(f"{x.shape[0]} tokens are not a multiple of the tile {tile}")
    if takes(x):
        return _kernel_linear(x, weight, tile)
    out = x.new_empty(x.shape[0], weight.shape[0])
    transposed = weight.t()
    for start in range(0, x.shape[0], tile):
        torch.mm(x[start : start + tile], transposed, out=out[start : start + tile])
    return out


def _kernel_linear(x: torch.Tensor, weight: torch.Tensor, tile: int) -> torch.Tensor:
    from deg_core.kernels.gemm import linear
    from deg_core.kernels.split_gemm import small_linear

    return small_linear(x, weight) if tile <= DECODE_TILE else linear(x, weight)
