"""Packed rows: all rows' tokens in one flat tensor, with a table of where each row lies (design section 2).

N = tokens of all rows, P = tokens of a row's prefix, L = tokens of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import torch

from deg_core.kernels.table import RowTable

if TYPE_CHECKING:
    from deg_core.model.state import LayerState, State

QUERY_BLOCK = 128
GROUP_TOKENS = 256
"""Queries of a block of several rows: half the pairs of its tokens are masked, but small blocks read the prefix often."""
CHUNK = 16
SCAN_TOKENS = 128 * CHUNK


@dataclass(frozen=True)
class Block:
    """A run of query tokens that attend to the same keys of one prefix and of one run of own tokens.

    start, end: the queries in the flat tensor. keys_start, keys_end: the own keys in the flat keys (Rows.own_keys).
    prefix: index of the prefix, -1 for none.
    bias: None for one query, else compute dtype [end - start, end - start], 0 where a query may see a query
    of this block and -inf elsewhere; it sees all keys before the block.
    """

    start: int
    end: int
    keys_start: int
    keys_end: int
    prefix: int
    bias: torch.Tensor | None


@dataclass(frozen=True)
class Scan:
    """A run of recurrent work: some rows' tokens cut into C chunks of W, step by step.

    A step holds the chunks that can run together: those of the first active[step] rows.
    rows: their indices, those of most chunks first. active: how many of them each step still has.
    take: int64 [C * W], the flat token of each place, step by step; a place beyond its row's end takes a
    token of its own row. real: float32 [C, 1, W, 1], 0 at places beyond the end. back: int64, the place of
    each of the rows' tokens in flat order. later: bool [W, W], whether a place may not see another.
    """

    rows: tuple[int, ...]
    active: tuple[int, ...]
    width: int
    take: torch.Tensor
    real: torch.Tensor
    back: torch.Tensor
    later: torch.Tensor


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
        self._scans: dict[tuple[bool, str], list[Scan]] = {}
        self._tables: dict[str, RowTable] = {}

    def __len__(self) -> int:
        return len(self.lengths)

    def prefix_length(self, row: int) -> int:
        """P of a row."""
        index = self.prefixes[row]
        return self.states[index].length if index >= 0 else 0

    def before(self, row: int, layer: int) -> LayerState | None:
        """A layer's state that a row continues, None where it starts anew."""
        index = self.prefixes[row]
        return self.states[index].layers[layer] if index >= 0 else None

    def own_keys(self, layer: int, k_NGD: torch.Tensor, v_NGD: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The flat keys and values among which rows find their own: those of their tokens."""
        del layer
        return k_NGD, v_NGD

    def rewrite(self, layer: int, own: Sequence[LayerState]) -> None:
        """Take what a layer leaves behind of each row; rows that are read once hold nothing."""

    @cached_property
    def positions(self) -> torch.Tensor:
        """int64 [N]: the position of each token in its whole sequence."""
        return torch.cat([torch.arange(length) + self.prefix_length(row) for row, length in enumerate(self.lengths)])

    def blocks(self, grouped: bool, dtype: torch.dtype, device: torch.device) -> list[Block]:
        """The attention work of these rows.

        grouped=False: each row's blocks depend on that row alone, so its numbers do too (inference).
        grouped=True: neighbouring rows of one prefix share a block, with a mask (training; see together).
        """
        key = (grouped, dtype, str(device))
        if key not in self._blocks:
            runs = self._grouped_runs() if grouped else [(row, row + 1) for row in range(len(self))]
            self._blocks[key] = [block for run in runs for block in self._run_blocks(run, dtype, device)]
        return self._blocks[key]

    def scans(self, grouped: bool, device: torch.device) -> list[Scan]:
        """The recurrent work of these rows, in order.

        grouped=False: a scan is SCAN_TOKENS of one row at most, so that its numbers depend on that row alone
        and memory does not grow with its length. grouped=True: one scan for all rows.
        """
        key = (grouped, str(device))
        if key not in self._scans:
            spans = list(zip(range(len(self)), self.starts, self.lengths, strict=True))
            parts = [spans]
            if not grouped:
                parts = [
                    [(row, start + low, min(SCAN_TOKENS, length - low))]
                    for row, start, length in spans
                    for low in range(0, length, SCAN_TOKENS)
                ]
            self._scans[key] = [_scan(part, device) for part in parts]
        return self._scans[key]

    def table(self, device: torch.device) -> RowTable:
        """These rows and their prefixes as kernels read them."""
        if str(device) not in self._tables:
            states = [(state.length, state.layers) for state in self.states]
            own = self._own_places(device)
            self._tables[str(device)] = RowTable.of(self.starts, self.lengths, self.prefixes, states, device, own)
        return self._tables[str(device)]

    def _own_places(self, device: torch.device) -> torch.Tensor | None:
        """Where kernels find the rows' own keys (RowTable.own); None: where their tokens are."""
        del device
        return None

    def _grouped_runs(self) -> list[tuple[int, int]]:
        runs: list[tuple[int, int]] = []
        for prefix, same in groupby(range(len(self)), self.prefixes.__getitem__):
            rows = list(same)
            first, end = rows[0], rows[-1] + 1
            own = together(self.lengths[first:end]) if prefix >= 0 else pairwise(range(end - first + 1))
            runs += [(first + low, first + high) for low, high in own]
        return runs

    def _run_blocks(self, run: tuple[int, int], dtype: torch.dtype, device: torch.device) -> list[Block]:
        first, last = run
        start, end = self.starts[first], self.starts[last - 1] + self.lengths[last - 1]
        if last - first > 1:
            owner = torch.repeat_interleave(torch.arange(first, last), torch.tensor(self.lengths[first:last]))
            bias = _bias(owner[:, None] == owner[None, :], dtype, device)
            return [Block(start, end, start, end, self.prefixes[first], bias)]
        widest = min(QUERY_BLOCK, end - start)
        full = _bias(torch.ones(widest, widest, dtype=torch.bool), dtype, device)
        blocks = []
        for low in range(start, end, QUERY_BLOCK):
            high = min(low + QUERY_BLOCK, end)
            inner = full[: high - low, : high - low] if high - low > 1 else None
            blocks.append(Block(low, high, start, high, self.prefixes[first], inner))
        return blocks


def together(lengths: Sequence[int], most: int = GROUP_TOKENS) -> list[tuple[int, int]]:
    """Runs (first, last + 1) of rows of one prefix that attend in one block: of at most so many tokens, or one row.

    A block computes the scores of every pair of its tokens and masks those of different rows.
    """
    runs: list[tuple[int, int]] = []
    size = 0
    for row, length in enumerate(lengths):
        if runs and size + length <= most:
            runs[-1], size = (runs[-1][0], row + 1), size + length
        else:
            runs.append((row, row + 1))
            size = length
    return runs


def _bias(one_row: torch.Tensor, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """The bias of a block, from bool [n, n]: whether two queries are of one row."""
    return torch.zeros(one_row.shape, dtype=dtype).masked_fill_(~one_row.tril(), float("-inf")).to(device)


def _scan(spans: list[tuple[int, int, int]], device: torch.device) -> Scan:
    """The scan of some rows' tokens, each span (row, start in the flat tensor, length)."""
    longest = max(length for _, _, length in spans)
    width = 1 if longest == 1 else min(CHUNK, -(-longest // 16) * 16)
    counts = [-(-length // width) for _, _, length in spans]
    order = sorted(range(len(spans)), key=lambda i: -counts[i])
    active = tuple(sum(count > step for count in counts) for step in range(max(counts)))
    firsts = torch.tensor((0, *active)).cumsum(0)[:-1]
    take = torch.empty(sum(active), width, dtype=torch.int64)
    places: dict[int, torch.Tensor] = {}
    for rank, i in enumerate(order):
        _, start, length = spans[i]
        chunks = firsts[: counts[i]] + rank
        tokens = torch.arange(counts[i] * width)
        take[chunks] = start + tokens.clamp_max(length - 1).view(-1, width)
        places[i] = (chunks[:, None] * width + torch.arange(width)).flatten()[:length]
    back = torch.cat([places[i] for i in range(len(spans))])
    real = torch.zeros(take.numel())
    real[back] = 1
    return Scan(
        rows=tuple(spans[i][0] for i in order),
        active=active,
        width=width,
        take=take.flatten().to(device),
        real=real.view(-1, 1, width, 1).to(device),
        back=back.to(device),
        later=torch.ones(width, width, dtype=torch.bool).triu(1).to(device),
    )
