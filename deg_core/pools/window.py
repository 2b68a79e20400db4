"""Windows of contexts that are too long to train whole (training specification, section 2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deg_core.pools.example import Example, Fork


def window(example: Example, size: int, rng: np.random.Generator) -> Example | None:
    """A crop of size tokens that holds one gold span picked at random, placed uniformly.

    It trains only what its text shows: extract forks with a span inside. A field inside an array is named
    by its item's number, which only the start of a document shows, so such a field trains only in the
    window at the start. None when no span can be shown that way.
    """
    picked = _pick(example, size, rng)
    if picked is None:
        return None
    low, high = picked
    start = int(rng.integers(low, high + 1))
    forks = [_shown(fork, start, size) for fork in example.forks]
    context = example.context[start : start + size].copy()
    kept = [fork for fork in forks if fork is not None]
    return Example(example.uid, example.split, example.doc_id, context, kept) if kept else None


def _pick(example: Example, size: int, rng: np.random.Generator) -> tuple[int, int] | None:
    """The inclusive range of window starts that hold one span; None when no span fits a window."""
    ranges = [
        starts
        for fork in example.forks
        if fork.kind == "extract"
        for span in fork.spans
        if (starts := _starts(fork, span, size, len(example.context))) is not None
    ]
    return ranges[int(rng.integers(len(ranges)))] if ranges else None


def _starts(fork: Fork, span: np.ndarray, size: int, length: int) -> tuple[int, int] | None:
    first, end = int(span[0]), int(span[1])
    if end - first > size:
        return None
    low, high = max(0, end - size), min(first, length - size)
    if not _is_item(fork):
        return low, high
    return (0, 0) if low == 0 else None


def _shown(fork: Fork, start: int, size: int) -> Fork | None:
    """The fork with the spans inside the window, or None when it does not train there."""
    if fork.kind != "extract" or (start > 0 and _is_item(fork)):
        return None
    inside = (fork.spans[:, 0] >= start) & (fork.spans[:, 1] <= start + size)
    if not inside.any():
        return None
    weights = fork.span_weights
    if len(weights):
        weights = weights[inside]
        if not weights.sum() > 0:
            return None
        weights = weights / weights.sum()
    return replace(fork, spans=(fork.spans[inside] - start).astype(np.int32), span_weights=weights)


def _is_item(fork: Fork) -> bool:
    return "*" in fork.field.split("/")
