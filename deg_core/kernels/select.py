"""Which tensors kernels compute; imports no Triton."""

from __future__ import annotations

import importlib.util
import os
from functools import cache

import torch

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
"""Whether this process runs kernels in Triton's interpreter, on the CPU; read when Triton is imported, so it cannot change."""


ROWWISE = (torch.float32, torch.bfloat16)


@cache
def installed() -> bool:
    """Whether Triton is there."""
    return importlib.util.find_spec("triton") is not None


def takes(x: torch.Tensor) -> bool:
    """Whether kernels compute x: a CUDA tensor, or in the interpreter any."""
    return (x.is_cuda or INTERPRETED) and installed()


def by_rows(x: torch.Tensor) -> bool:
    """Whether the kernels of `rowwise` compute x where it is to be exact: on the CPU, without a gradient."""
    return x.device.type == "cpu" and x.dtype in ROWWISE and not INTERPRETED
