"""Random operands, poisoned surroundings, and what counts as equal."""

from __future__ import annotations

import torch

# float32 sums of up to 1000 products in another order than torch's; seen are 4e-7
ORDER_TOLERANCE = 3e-6
# bfloat16 has 8 bits, and the interpreter cuts the others off where a GPU rounds: at most 2 ** -7; seen are 5e-3
CUT_TOLERANCE = 2**-7
TOLERANCES = {torch.float32: ORDER_TOLERANCE, torch.bfloat16: CUT_TOLERANCE}


def normal(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Standard normal numbers, the same for a seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def amid_nan(x: torch.Tensor, before: int = 2, after: int = 3, beside: int = 0) -> torch.Tensor:
    """x [N, ...] as a view of a buffer that is NaN before and after its rows, and beside them in the last dimension."""
    shape = (before + x.shape[0] + after, *x.shape[1:-1], x.shape[-1] + beside)
    buffer = torch.full(shape, float("nan"), dtype=x.dtype)
    view = buffer[before : before + x.shape[0], ..., : x.shape[-1]]
    view.copy_(x)
    return view


def close(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether they differ by no more than their dtype's tolerance, in relation to the norm of what was expected."""
    difference = (found.double() - expected.double()).norm()
    return found.dtype == expected.dtype and bool(difference <= TOLERANCES[found.dtype] * expected.double().norm())
