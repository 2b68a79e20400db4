"""Linear projections: plain, with a low-rank adapter, or exactly repeatable, where a row's bits depend on that row alone.

Exact projections come in three kinds: weights laid out for oneDNN (the fast way on a CPU), whole numbers (oneDNN too), and
fixed tiles of rows, which need nothing but a matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import torch
import torch.nn.functional as F  # noqa: N812 - the name that torch's own documentation uses

from deg_core.kernels import rowwise
from deg_core.kernels.rowwise import ZERO_POINT
from deg_core.kernels.select import takes
from deg_core.model.activation import gated_silu

TILE = 64
DECODE_TILE = 8
PACKED_ROWS = 8
CHECKED_ROWS = (8, 24, 64, 200, 512)
TURNED = 64
ROUNDED = (".gate_up", ".down", ".o", ".out", ".qkvz")
"""What int8 is for: most of a layer's work. Of what is left, the products for attention's queries, keys and values gain the
least and lose the most (of smollm2's final states, a sixth of the error), and DeltaNet's decays and write strengths (.ba)
feed exponentials; its queries, keys, values and gates are kept in 8 bits by others too."""


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

    def mlp(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """The gated MLP of a layer, by its name: x [N, E] to [N, E]."""
        return self(f"{name}.down", gated_silu(self(f"{name}.gate_up", x), self.exact))


class PackedProjector(Projector):
    """Applies named weights that lie in memory as oneDNN's kernels want them, so that a product only reads them.

    weights: all of the model's, of which the norms and the like are used; packed: those of the projections, see pack.
    """

    def __init__(self, weights: Mapping[str, torch.Tensor], packed: Mapping[str, torch.Tensor]):
        super().__init__(weights, tile=PACKED_ROWS)
        self.packed = packed

    def __call__(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """x [N, in] to [N, out] in its dtype; N is a multiple of PACKED_ROWS."""
        return packed_linear(x, self.packed[name])


def packed_linear(x: torch.Tensor, packed: torch.Tensor) -> torch.Tensor:
    """x [N, in] times a packed weight; no gradient."""
    return torch.ops.mkldnn._linear_pointwise(x, packed, None, "none", [], "")


def pack(weights: Mapping[str, torch.Tensor], names: Iterable[str]) -> dict[str, torch.Tensor] | None:
    """Lay out weights [out, in] for oneDNN; None where that is not to be had or not exact on this machine.

    oneDNN adds up a row's products in an order that does not depend on the rows beside it, as long as there are a few.
    Nobody promises that, so it is looked at for every shape of weight, at CHECKED_ROWS rows.
    """
    chosen = {name: weights[name] for name in names}
    if not torch.backends.mkldnn.is_available() or any(
        weight.device.type != "cpu" or takes(weight) for weight in chosen.values()
    ):
        return None
    with torch.inference_mode():
        packed = {name: torch.ops.mkldnn._reorder_linear_weight(weight, TILE) for name, weight in chosen.items()}
        shapes = {weight.shape: name for name, weight in chosen.items()}
        exact = all(_rows_alone(packed[name], chosen[name]) for name in shapes.values())
    return packed if exact else None


def _rows_alone(packed: torch.Tensor, weight: torch.Tensor) -> bool:
    most = CHECKED_ROWS[-1]
    x = torch.linspace(-1, 1, most * weight.shape[1]).sin_().view(most, -1).to(weight.dtype)
    whole = packed_linear(x, packed)
    return all(torch.equal(packed_linear(x[most - rows :], packed), whole[most - rows :]) for rows in CHECKED_ROWS)


def exact_projector(
    weights: Mapping[str, torch.Tensor], names: Iterable[str], others: Mapping[str, torch.Tensor]
) -> Projector:
    """Exact projections by named weights, packed where that can be. others: those that are not projections' (norms)."""
    packed = pack(weights, names)
    return Projector(weights, tile=TILE) if packed is None else PackedProjector(others, packed)


@dataclass(frozen=True)
class Int8Weight:
    """A weight in int8 with one scale for each output: packed [in, out] as oneDNN wants it, scales float32 [out].

    turns: of its inputs, see rowwise.turn.
    """

    packed: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor
    turns: int

    @classmethod
    def of(cls, weight: torch.Tensor) -> Int8Weight:
        """Round a weight [out, in] to the nearest of 255 values for each output; CPU.

        One large input of a token makes its scale coarse for all others. So inputs and weight are turned alike by a
        Hadamard matrix, each input with those a fixed step away: their products stay and the large input is spread
        (arXiv:2404.00456). Of the final states' error two thirds go.
        """
        turns = math.gcd(weight.shape[1], TURNED)
        rounded, scales = rowwise.round_rows(weight, turns)
        packed = torch.ops.onednn.qlinear_prepack((rounded.short() - ZERO_POINT).to(torch.int8), None)
        return cls(packed, scales, torch.zeros_like(scales, dtype=torch.int32), turns)

    def products(self, rounded: torch.Tensor) -> torch.Tensor:
        """float32 [N, out] of rounded inputs (rowwise.round_rows), but for the inputs' scales."""
        return int8_linear(rounded, self.packed, self.scales, self.zeros)


class Int8Projector(Projector):
    """Applies some named weights in int8 to flat tokens rounded to int8, one scale for each token.

    Sums of products of whole numbers are exact in any order, so a row's bits depend on that row alone.
    others: exact projections of all names, for those without an int8 weight.
    """

    def __init__(self, others: Projector, int8: Mapping[str, Int8Weight]):
        super().__init__(others.weights, tile=max(others.tile, PACKED_ROWS))
        self.others = others
        self.int8 = int8

    def __call__(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """x [N, in] to [N, out] in the dtype of x; N is a multiple of the tile."""
        if name not in self.int8:
            return self.others(name, x)
        weight = self.int8[name]
        rounded, scales = rowwise.round_rows(x, weight.turns)
        return rowwise.scale_rows(weight.products(rounded), scales, x.dtype)

    def mlp(self, name: str, x: torch.Tensor) -> torch.Tensor:
        """As always, with nothing but bytes and their products between the two weights."""
        wide, narrow = self.int8.get(f"{name}.gate_up"), self.int8.get(f"{name}.down")
        if wide is None or narrow is None:
            return super().mlp(name, x)
        rounded, scales = rowwise.round_rows(x, wide.turns)
        rounded, scales = rowwise.round_gated_silu(wide.products(rounded), scales, narrow.turns)
        return rowwise.scale_rows(narrow.products(rounded), scales, x.dtype)


def int8_linear(x: torch.Tensor, packed: torch.Tensor, scales: torch.Tensor, zeros: torch.Tensor) -> torch.Tensor:
    """(x - ZERO_POINT) [N, in] uint8 times a packed int8 weight, times the scale of each output: float32 [N, out]."""
    return torch.ops.onednn.qlinear_pointwise(
        x, 1.0, ZERO_POINT, packed, scales, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )


@cache
def int8_is_exact() -> bool:
    """Whether this machine adds up products of bytes without loss, seen on the largest ones.

    CPUs without instructions for it add pairs of products in 16 bits, which are too few.
    """
    if not torch.backends.mkldnn.is_available():
        return False
    largest = torch.full((TILE, TILE), 127, dtype=torch.int8)
    one, zero = torch.ones(TILE), torch.zeros(TILE, dtype=torch.int32)
    with torch.inference_mode():
        packed = torch.ops.onednn.qlinear_prepack(largest, None)
        sums = int8_linear(torch.full((TILE, TILE), 255, dtype=torch.uint8), packed, one, zero)
    return bool((sums == TILE * 127 * 127).all())


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
