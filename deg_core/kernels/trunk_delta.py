"""Gated delta rule over one long row in chunks, by flash-linear-attention where it is installed.

Importing it takes seconds and needs a device, so this is done on the CUDA path alone. Its kernels tune themselves:
a row's bits hold within a process, and between processes that have the same tuning cache (contract section 12.2).
"""

from __future__ import annotations

import importlib.util
from functools import cache

import torch


@cache
def installed() -> bool:
    """Whether flash-linear-attention is there."""
    return importlib.util.find_spec("fla") is not None


def trunk_delta(
    q_LHK: torch.Tensor,
    k_LHK: torch.Tensor,
    v_LHV: torch.Tensor,
    decay_LH: torch.Tensor,
    beta_LH: torch.Tensor,
    initial: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """o float32 [L, H, V] of a row's L tokens and the state float32 [H, K, V] after them; CUDA.

    q, k normalised, q scaled; q, k, v and beta are rounded to bfloat16, the decay and the state stay float32.
    """
    from fla.ops.gated_delta_rule import chunk_gated_delta_rule

    q, k, v, beta = (x.to(torch.bfloat16).contiguous()[None] for x in (q_LHK, k_LHK, v_LHV, beta_LH))
    out, state = chunk_gated_delta_rule(
        q,
        k,
        v,
        decay_LH.contiguous()[None],
        beta,
        scale=1.0,
        initial_state=None if initial is None else initial[None],
        output_final_state=True,
    )
    return out[0].float(), state[0]
