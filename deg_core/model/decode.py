"""Rows that are written token by token: what each reads after its prefix lies in buffers of fixed size.

M = rows, C = own tokens that a row has room for, G = key/value heads, P = tokens of a prefix, D = head width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from deg_core.model.rows import Block, Rows
from deg_core.model.state import LayerState, State


class DecodeRows(Rows):
    """Rows of one token each: the next one after a prefix and after own tokens.

    family: that of the backbone. prefixes: for each row a state read by reference, never written.
    own: for each row the state of its own tokens since, apart from the prefix (Backbone.forward); it is copied.
    room: C. A step goes so: `feed`, then Backbone.forward with `ids` and these rows, which writes the buffers in place.
    What the step reads and writes stays at its address, and what changes from step to step lies in tensors.

    ids, positions: int64 [M], on the device of the states. used: own tokens of each row, the one being read among them.
    """

    def __init__(self, family: Any, prefixes: Sequence[State], own: Sequence[State], room: int):
        self.room = room
        self.used = [state.length for state in own]
        if max(self.used) > room:
            raise ValueError(f"{max(self.used)} own tokens in the room of {room}")
        self._family, self._shared = family, tuple(prefixes)
        layers = range(len(prefixes[0].layers))
        self._buffers = [_buffers([state.layers[i] for state in own], family.grows(i), room) for i in layers]
        states = [State(prefix.length, self._before(row, prefix)) for row, prefix in enumerate(prefixes)]
        super().__init__([1] * len(own), range(len(own)), states)
        device = self._buffers[0][0].device
        self.ids, self.positions, self._places = (
            torch.zeros(len(self), dtype=torch.int64, device=device) for _ in range(3)
        )
        firsts = torch.arange(len(self), device=device) * room
        self._own = torch.stack((firsts, torch.zeros_like(firsts)), 1)
        self._numbers: list[tuple[int, ...]] = [()] * len(self)

    def feed(self, tokens: Mapping[int, int]) -> None:
        """Give rows their next token. A row without one stays where it is: it reads its last token once more.

        tokens: row -> id, the first time for every row. Raises ValueError where a row has no room.
        """
        for row, token in tokens.items():
            before = self.used[row]
            if before == self.room:
                raise ValueError(f"row {row} has no room for more than {before} tokens")
            self._numbers[row] = (token, self._shared[row].length + before, row * self.room + before, before)
            self.used[row] += 1
        numbers = torch.tensor(self._numbers).t().to(self.ids.device)
        for buffer, values in zip((self.ids, self.positions, self._places, self._own[:, 1]), numbers, strict=True):
            buffer.copy_(values)

    def moved(self, rows: Sequence[int], room: int) -> DecodeRows:
        """Some of the rows, in new buffers."""
        return DecodeRows(self._family, [self._shared[row] for row in rows], [self.own(row) for row in rows], room)

    def own(self, row: int) -> State:
        """The state of a row's own tokens, apart from its prefix; views of the buffers."""
        used, layers = self.used[row], []
        for index, buffers in enumerate(self._buffers):
            grows = self._family.grows(index)
            layers.append(tuple(buffer[row, :used].transpose(0, 1) if grows else buffer[row] for buffer in buffers))
        return State(used, tuple(layers))

    def own_keys(self, layer: int, k_NGD: torch.Tensor, v_NGD: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Writes the tokens' keys and values to their places; returns the buffers, flat: [M * C, G, D]."""
        k, v = (buffer.flatten(0, 1) for buffer in self._buffers[layer])
        k.index_copy_(0, self._places, k_NGD[: len(self)])
        v.index_copy_(0, self._places, v_NGD[: len(self)])
        return k, v

    def rewrite(self, layer: int, own: Sequence[LayerState]) -> None:
        """Writes what a recurrent layer leaves behind of each row over what it read."""
        if not self._family.grows(layer):
            for buffer, states in zip(self._buffers[layer], zip(*own, strict=True), strict=True):
                torch.stack(states, out=buffer)

    def blocks(self, grouped: bool, dtype: torch.dtype, device: torch.device) -> list[Block]:
        """Each row's token, its prefix and its own keys so far."""
        del grouped, dtype, device
        firsts = range(0, len(self) * self.room, self.room)
        return [
            Block(row, row + 1, first, first + used, row, None)
            for row, (first, used) in enumerate(zip(firsts, self.used, strict=True))
        ]

    def _own_places(self, device: torch.device) -> torch.Tensor:
        del device
        return self._own

    def _before(self, row: int, prefix: State) -> tuple[LayerState, ...]:
        """What a row continues, layer by layer: its prefix's keys and values, its own recurrent states."""
        return tuple(
            shared if self._family.grows(index) else tuple(buffer[row] for buffer in self._buffers[index])
            for index, shared in enumerate(prefix.layers)
        )


def _buffers(own: Sequence[LayerState], grows: bool, room: int) -> tuple[torch.Tensor, ...]:
    """A layer's buffers, filled: keys and values [M, C, G, D], or recurrent states [M, ...]."""
    parts = list(zip(*own, strict=True))
    if not grows:
        return tuple(torch.stack(part) for part in parts)
    heads, _, width = parts[0][0].shape
    buffers = tuple(part[0].new_empty(len(own), room, heads, width) for part in parts)
    for buffer, part in zip(buffers, parts, strict=True):
        for row, state_GLD in zip(buffer, part, strict=True):
            row[: state_GLD.shape[1]] = state_GLD.transpose(0, 1)
    return buffers
