"""The table of packed rows and of the prefixes they continue, on the device of the kernels.

M = rows, S = prefixes, P = tokens of a prefix, B = blocks of queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

ALIGNMENT = 16
"""Bytes; kernels read a prefix in pieces of so many."""


@dataclass(frozen=True)
class RowTable:
    """What kernels know of packed rows.

    rows: int64 [M, 3]: each row's first token in the flat tensor, the token after its last, its prefix (-1: none).
    own: int64 [M, 2]: the place of each row's first own key among the flat keys, and how many own keys come before that
    of its first token.
    prefixes: for each layer int64 [S, 3]: the addresses of the first and the last tensor of the prefix's state there, P.
    The addresses hold as long as the states do, which whoever keeps the table keeps.
    """

    rows: torch.Tensor
    own: torch.Tensor
    prefixes: tuple[torch.Tensor, ...]
    _blocks: dict[int, torch.Tensor] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        starts: Sequence[int],
        lengths: Sequence[int],
        prefixes: Sequence[int],
        states: Sequence[tuple[int, Sequence[Sequence[torch.Tensor]]]],
        device: torch.device,
        own: torch.Tensor | None = None,
    ) -> RowTable:
        """The table of rows; states: P and each layer's tensors; own: None where the flat keys are those of the tokens.

        Raises ValueError where kernels cannot read a state.
        """
        layers = len(states[0][1]) if states else 0
        addresses = [
            [
                (_address(state[layer][0], device), _address(state[layer][-1], device), length)
                for length, state in states
            ]
            for layer in range(layers)
        ]
        rows = [(start, start + n, prefix) for start, n, prefix in zip(starts, lengths, prefixes, strict=True)]
        found = torch.tensor(addresses, dtype=torch.int64).view(layers, len(states), 3).to(device)
        if own is None:
            own = torch.tensor([(start, 0) for start in starts], dtype=torch.int64).to(device)
        return cls(torch.tensor(rows, dtype=torch.int64).to(device), own, found.unbind(0))

    def prefix(self, layer: int) -> torch.Tensor:
        """int64 [S, 3] of a layer; empty where no row continues anything."""
        return self.prefixes[layer] if self.prefixes else self.rows[:0]

    def blocks(self, queries: int) -> torch.Tensor:
        """int64 [B, 2]: row and first token of every block of so many queries; a row's blocks begin with the row."""
        if queries not in self._blocks:
            blocks = [
                (row, first)
                for row, (start, end, _) in enumerate(self.rows.tolist())
                for first in range(start, end, queries)
            ]
            self._blocks[queries] = torch.tensor(blocks, dtype=torch.int64).to(self.rows.device)
        return self._blocks[queries]


def _address(tensor: torch.Tensor, device: torch.device) -> int:
    if tensor.device != device or not tensor.is_contiguous() or tensor.data_ptr() % ALIGNMENT:
        raise ValueError(
            f"a prefix of shape {tuple(tensor.shape)} on {tensor.device} must be contiguous, on {device} and aligned"
        )
    return tensor.data_ptr()
