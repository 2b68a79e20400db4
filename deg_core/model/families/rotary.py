"""Rotary position embedding in the half-split layout (arXiv:2104.09864), for every family.

N = flat tokens, H = heads, D = head width, R = the part of it that rotates.
"""

from __future__ import annotations

import torch

from deg_core.kernels import rowwise
from deg_core.kernels.select import by_rows


class Rotary:
    """What a position turns heads by.

    frequencies: float32 [R / 2] on the CPU; each device gets its copy once, so that later calls wait for nothing.
    """

    def __init__(self, frequencies: torch.Tensor):
        self._copies = {frequencies.device: frequencies}
        self._frequencies = frequencies

    def table(self, positions: torch.Tensor, dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin [N, 1, R] in dtype, of positions int64 [N]."""
        if positions.device not in self._copies:
            self._copies[positions.device] = self._frequencies.to(positions.device)
        angles = positions.to(torch.float32)[:, None] * self._copies[positions.device]
        angles = torch.cat((angles, angles), -1)[:, None]
        return angles.cos().to(dtype), angles.sin().to(dtype)


def rotate(x_NHD: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, exact: bool = False) -> torch.Tensor:
    """Every head turned by its token's angles; exact has no gradient."""
    if exact and by_rows(x_NHD):
        return rowwise.rotate(x_NHD, cos, sin)
    low, high = x_NHD.chunk(2, -1)
    return x_NHD * cos + torch.cat((-high, low), -1) * sin
