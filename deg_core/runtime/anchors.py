"""From anchor logits to the places of an array's items (contract section 12.6). Pure NumPy, no randomness."""

from __future__ import annotations

import numpy as np

PEAK_RADIUS = 2


def pick_anchors(logits: np.ndarray, items: int) -> list[int]:
    """The tokens at which `items` items start, ascending: the best peaks, none within PEAK_RADIUS of a better one.

    logits: float32 [T], -inf where no item can start. Where too few peaks exist the best other tokens
    follow; fewer than `items` come back only when the region has fewer tokens.
    """
    order = [int(token) for token in np.argsort(-logits, kind="stable") if np.isfinite(logits[token])]
    chosen: list[int] = []
    for token in order:
        if len(chosen) == items:
            break
        if all(abs(token - other) > PEAK_RADIUS for other in chosen):
            chosen.append(token)
    rest = [token for token in order if token not in set(chosen)]
    return sorted(chosen + rest[: items - len(chosen)])
