"""Packed rows: all rows' tokens in one flat tensor, with a table of where each row lies (design section 2).

N = tokens of all rows, P = tokens of a row's prefix, L = tokens of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from deg_core.model.state import State

QUERY_BLOCK = 128


@dataclass(frozen=True)
class Block:
    """A run of query tokens that attend to the same keys of one prefix and of one run of own tokens.

    start, end: the queries in the flat tensor. keys_start: the first own key in the flat tensor;
    own keys run from there to `end`. prefix: index of the prefix, -1 for none.
    bias: None, or compute dtype [end - start, P + end - keys_start], 0 where visible and -inf elsewhere.
    """

    start: int
    end: int
    keys_start: int
    prefix: int
    bias: torch.Tensor | None


class Rows:
    """The row table of one packed batch.

    lengths: L of each row. prefixes: for each row an index into `states`, or -1.
    states: the prefixes that rows continue, read by reference.
    """

    def __init__(self, lengths: Sequence[int], prefixes: Sequence[int] | None = None, states: Sequence[State] = ()):
        self.lengths = tuple(lengths)
        self.prefixes = tuple(prefixes) if prefixes is not None else (-1,) * len(self.lengths)
        self.states = tuple(states)
        if not self.lengths or min(self.lengths) < 1:
            raise ValueError("every row needs at least one token")
        if len(self.prefixes) != len(self.lengths) or max(self.prefixes) >= len(self.states):
            raise ValueError("prefixes must name one of the states, or -1, for every row")
        starts = [0]
        for length in self.lengths:
            starts.append(starts[-1] + length)
        self.starts = tuple(starts[:-1])
        self.tokens = starts[-1]
        self._blocks: dict[tuple[bool, torch.dtype, str], list[Block]] = {}

    def __len__(self) -> int:
        return len(self.lengths)

    def prefix_length(self, row: int) -> int:
        """P of a row."""
        index = self.prefixes[row]
        return self.states[index].length if index >= 0 else 0

    @cached_property
    def positions(self) -> torch.Tensor:
        """int64 [N]: the position of each token in its whole sequence."""
        return torch.cat([torch.arange(length) + self.prefix_length(row) for row, length in enumerate(self.lengths)])

    def blocks(self, grouped: bool, dtype: torch.dtype, device: torch.device) -> list[Block]:
        """The attention work of these rows.

        grouped=False: each row's blocks depend on that row alone, so its numbers do too (inference).
        grouped=True: neighbouring rows of one prefix share a block, with a mask (training).
        """
        key = (grouped, dtype, str(device))
        if key not in self._blocks:
            runs = self._grouped_runs() if grouped else [(row, row + 1) for row in range(len(self))]
            self._blocks[key] = [block for run in runs for block in self._run_blocks(run, dtype, device)]
        return self._blocks[key]

    def _grouped_runs(self) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for row, prefix in enumerate(self.prefixes):
            if runs and prefix >= 0 and self.prefixes[runs[-1][0]] == prefix:
                runs[-1] = (runs[-1][0], row + 1)
            else:
                runs.append((row, row + 1))
        return runs

    def _run_blocks(self, run: tuple[int, int], dtype: torch.dtype, device: torch.device) -> list[Block]:
        first, last = run
        prefix_length = self.prefix_length(first)
        if last - first > 1:
            start, end = self.starts[first], self.starts[last - 1] + self.lengths[last - 1]
            owner = torch.repeat_interleave(torch.arange(first, last), torch.tensor(self.lengths[first:last]))
            visible = (owner[:, None] == owner[None, :]).tril()
            bias = _bias(visible, prefix_length, dtype, device)
            return [Block(start, end, start, self.prefixes[first], bias)]
        blocks = []
        row_start, length = self.starts[first], self.lengths[first]
        for low in range(0, length, QUERY_BLOCK):
            high = min(low + QUERY_BLOCK, length)
            visible = torch.ones(high - low, high, dtype=torch.bool).tril(low)
            bias = _bias(visible, prefix_length, dtype, device) if high - low > 1 else None
            blocks.append(Block(row_start + low, row_start + high, row_start, self.prefixes[first], bias))
        return blocks


def _bias(visible: torch.Tensor, prefix_length: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    own = torch.zeros(visible.shape, dtype=dtype).masked_fill_(~visible, float("-inf"))
    return torch.nn.functional.pad(own, (prefix_length, 0)).to(device)
