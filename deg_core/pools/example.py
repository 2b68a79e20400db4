"""A training example: one trunk and its forks, in tokens (training specification, section 2)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from deg_core.model.fork import MAX_COUNT, ForkTokens


def _empty(dtype: type = np.int32) -> np.ndarray:
    return np.zeros(0, dtype)


@dataclass
class Fork(ForkTokens):
    """One query and its target. For generate, ids are KNOWN VALUES, header, target text and the end token.

    target: float32 [o] over the outcomes in plan order (choice, score), [2] true/false (noul),
    [MAX_COUNT + 1] over lengths (count). bounds: admissible lengths (low, high), inclusive (count).
    spans: int32 [s, 2], half-open ranges of context tokens: every one correct, none = null (extract), or the regions
    of the array's items (count).
    span_weights: float32 [s], a soft target over spans, or [0] when they are alternatives.
    lm_start: position in ids of the first target token (generate).
    options_start: position in ids of the first option line's first token; the lines follow each other.
    by_place: whether the query names array items by their text alone, and asks for them, so that it can train on any
    part of the document that shows them.
    """

    target: np.ndarray = field(default_factory=lambda: _empty(np.float32))
    bounds: tuple[int, int] = (0, MAX_COUNT)
    spans: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    span_weights: np.ndarray = field(default_factory=lambda: _empty(np.float32))
    lm_start: int = 0
    options_start: int = 0
    by_place: bool = False


@dataclass
class Example:
    """One record in tokens. context: int32 [T], without the trunk's prefix and suffix.

    decision: whether it is a decision record. line: the record as it was read, from which it can be built again in other
    text; empty for decision records.
    """

    uid: str
    split: str
    doc_id: str
    context: np.ndarray
    forks: list[Fork]
    decision: bool = False
    line: bytes = b""

    @property
    def tokens(self) -> int:
        """Context and fork tokens."""
        return len(self.context) + sum(len(fork.ids) for fork in self.forks)
