"""The product of two tiles, as every kernel here takes it."""

from __future__ import annotations

import triton
import triton.language as tl

WIDEN = triton.knobs.runtime.interpret
"""The interpreter multiplies the bit patterns of bfloat16; there tiles are cast to float32 before."""


@triton.jit
def dot(a_MK, b_KN, sum_MN, WIDEN: tl.constexpr):
    """sum + a b in float32; float32 tiles are multiplied as such and not in TF32."""
    if WIDEN:
        a_MK = a_MK.to(tl.float32)
        b_KN = b_KN.to(tl.float32)
    return tl.dot(a_MK, b_KN, sum_MN, input_precision="ieee")
