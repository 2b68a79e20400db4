"""From anchor logits to the places of an array's items (contract section 12.6). Pure NumPy, no randomness."""

from __future__ import annotations

import numpy as np

from deg_core.config.settings import ArrayDecode
from deg_core.model.fork import MAX_COUNT

PEAK_RADIUS = 2


def find_items(logits: np.ndarray, lengths: np.ndarray, low: int, high: int | None, decode: ArrayDecode) -> list[int]:
    """The tokens at which an anchored array's items start, ascending.

    logits: float32 [T], -inf where no item can start. lengths: logits of each length, float32 [MAX_COUNT + 1], the
    last: that many or more. low, high: the least and the most items, None = as many as there are.

    threshold: every token more likely than not to start an item, the best of adjacent ones; to reach `low` the best
    others. count_peaks: the most probable length, and as many peaks; more than MAX_COUNT are those that threshold
    finds. hybrid: threshold, unless it finds nothing where the length is not 0.

    Fewer than `low` come back only when there are no more tokens.
    """
    marked = _marked(logits)
    counted = _counted(lengths, low, high, len(marked))
    if decode == "count_peaks" or (decode == "hybrid" and not marked):
        return pick_anchors(logits, counted)
    found = sorted(marked, key=lambda token: (-logits[token], token))[:high]
    taken = {int(token) for token in np.flatnonzero(logits > 0)}
    for token in _descending(logits) if len(found) < low else ():
        if len(found) < low and taken.isdisjoint((token - 1, token, token + 1)):
            found.append(token)
            taken.add(token)
    return sorted(found)


def _marked(logits: np.ndarray) -> list[int]:
    """The best token of every run of adjacent tokens with a logit above 0."""
    tokens = np.flatnonzero(logits > 0)
    runs = np.split(tokens, np.flatnonzero(np.diff(tokens) > 1) + 1) if len(tokens) else []
    return [int(run[np.argmax(logits[run])]) for run in runs]


def _counted(lengths: np.ndarray, low: int, high: int | None, marked: int) -> int:
    """The most probable length within the bounds; of lengths past the last class what was marked."""
    if low >= MAX_COUNT:
        counted = max(low, marked)
    else:
        most = MAX_COUNT if high is None else min(high, MAX_COUNT)
        counted = low + int(np.argmax(lengths[low : most + 1]))
        if counted == MAX_COUNT:
            counted = max(counted, marked)
    return counted if high is None else min(counted, high)


def pick_anchors(logits: np.ndarray, items: int) -> list[int]:
    """The tokens at which `items` items start, ascending: the best peaks, none within PEAK_RADIUS of a better one.

    logits: float32 [T], -inf where no item can start. Where too few peaks exist the best other tokens
    follow; fewer than `items` come back only when the region has fewer tokens.
    """
    order = _descending(logits)
    chosen: list[int] = []
    for token in order:
        if len(chosen) == items:
            break
        if all(abs(token - other) > PEAK_RADIUS for other in chosen):
            chosen.append(token)
    rest = [token for token in order if token not in set(chosen)]
    return sorted(chosen + rest[: items - len(chosen)])


def _descending(logits: np.ndarray) -> list[int]:
    """The tokens where an item can start, the best first, the first of equals."""
    return [int(token) for token in np.argsort(-logits, kind="stable") if np.isfinite(logits[token])]
