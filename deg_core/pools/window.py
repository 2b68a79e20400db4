"""Windows of contexts that are too long to train whole (training specification, section 2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deg_core.pools.example import Example, Fork


def window(example: Example, size: int, rng: np.random.Generator) -> Example | None:
    """A crop of size tokens that holds one gold span picked at random, placed uniformly.

    It trains only what its text shows: extract forks with a span inside, of items that start inside; and where the
    items of an anchored array start, if one does inside. A field inside an array whose item is named by its number,
    which only the start of a document shows, trains only in the window at the start. None when no span can be
    shown that way.
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
        if fork.kind == "extract" or fork.by_place
        for span in fork.spans
        if (starts := _starts(fork, span, size, len(example.context))) is not None
    ]
    return ranges[int(rng.integers(len(ranges)))] if ranges else None


def _starts(fork: Fork, span: np.ndarray, size: int, length: int) -> tuple[int, int] | None:
    first, end = int(span[0]), int(span[1])
    if fork.kind == "count":
        end = first + 1
    elif fork.by_place and 0 <= fork.anchor < first:
        first = fork.anchor
    if end - first > size:
        return None
    low, high = max(0, end - size), min(first, length - size)
    if fork.by_place or not _is_item(fork):
        return low, high
    return (0, 0) if low == 0 else None


def _shown(fork: Fork, start: int, size: int) -> Fork | None:
    """The fork with the spans inside the window, or None when it does not train there."""
    if fork.by_place:
        return _shown_by_place(fork, start, size)
    if fork.kind != "extract" or (start > 0 and _is_item(fork)):
        return None
    return _with_spans(fork, start, size)


def _shown_by_place(fork: Fork, start: int, size: int) -> Fork | None:
    """The same for queries of anchored arrays; how many items there are is not shown."""
    if fork.anchor >= 0:
        if not start <= fork.anchor < start + size:
            return None
        fork = replace(fork, anchor=fork.anchor - start, region_end=min(fork.region_end - start, size))
    if fork.kind == "extract":
        return _with_spans(fork, start, size)
    if fork.kind != "count":
        return None
    inside = (fork.spans[:, 0] >= start) & (fork.spans[:, 0] < start + size)
    regions = np.minimum(fork.spans[inside] - start, size).astype(np.int32)
    return replace(fork, spans=regions, target=np.zeros_like(fork.target)) if inside.any() else None


def _with_spans(fork: Fork, start: int, size: int) -> Fork | None:
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
