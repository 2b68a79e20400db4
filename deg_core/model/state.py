"""Explicit state: what a row leaves behind for its continuations (contract section 12.1).

G = key/value heads, P = tokens read so far, D = head width.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

LayerState = tuple[torch.Tensor, ...]


@dataclass(frozen=True)
class State:
    """The state after P tokens.

    layers: one tuple of tensors a layer. Attention layers keep (k_GPD, v_GPD); recurrent layers keep
    what their family says. Forks read them by reference and never write.
    """

    length: int
    layers: tuple[LayerState, ...]

    @property
    def bytes(self) -> int:
        """Bytes that the state's tensors take."""
        return sum(tensor.numel() * tensor.element_size() for layer in self.layers for tensor in layer)
