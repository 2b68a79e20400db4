"""What a draw changes in an example's forks: caps and option order (training specification, section 2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from deg_core.pools.example import Example, Fork

DECIDE_KINDS = ("choice", "score", "noul")


def cap_decide_forks(forks: Sequence[Fork], per_field: int, rng: np.random.Generator) -> list[Fork]:
    """At most per_field decide forks of each schema field, a random subset in the forks' order; 0 = all."""
    by_field: dict[str, list[int]] = {}
    for index, fork in enumerate(forks):
        if fork.kind in DECIDE_KINDS:
            by_field.setdefault(fork.field, []).append(index)
    dropped: set[int] = set()
    for indices in by_field.values():
        if 0 < per_field < len(indices):
            dropped.update(int(i) for i in rng.permutation(indices)[per_field:])
    return [fork for index, fork in enumerate(forks) if index not in dropped]


def cap_forks(forks: Sequence[Fork], room_tokens: int, rng: np.random.Generator) -> list[Fork]:
    """Forks of at most room_tokens in all, a random subset in the forks' order; 0 = no cap.

    Count forks are all kept; of the others, taken in random order, the first is kept whatever its length
    and the rest while they fit.
    """
    if not room_tokens or sum(len(fork.ids) for fork in forks) <= room_tokens:
        return list(forks)
    kept = {index for index, fork in enumerate(forks) if fork.kind == "count"}
    used = sum(len(forks[index].ids) for index in kept)
    others = [index for index in range(len(forks)) if index not in kept]
    for taken, index in enumerate(rng.permutation(others)):
        used += len(forks[index].ids)
        if taken and used > room_tokens:
            break
        kept.add(int(index))
    return [fork for index, fork in enumerate(forks) if index in kept]


def cap_parts(example: Example, most: int, parts_of: Callable[[Example], int], rng: np.random.Generator) -> list[Fork]:
    """Forks of an example that parts_of says can run in at most so many parts, a random subset as of cap_forks.

    Where count forks alone take more parts they stay all the same.
    """
    forks = example.forks
    while (parts := parts_of(replace(example, forks=forks))) > most:
        room = sum(len(fork.ids) for fork in forks) * most // parts
        kept = cap_forks(forks, max(room, 1), rng)
        if len(kept) == len(forks):
            break
        forks = kept
    return forks


def shuffle_options(fork: Fork, rng: np.random.Generator) -> Fork:
    """The fork with its option lines in a random order.

    options keeps pointing at each outcome's line, so target and option_tokens stay in plan order.
    """
    order = rng.permutation(len(fork.options))
    starts = np.concatenate([[fork.options_start], fork.options[:-1] + 1])
    lengths = fork.options + 1 - starts
    blocks = [fork.ids[starts[outcome] : starts[outcome] + lengths[outcome]] for outcome in order]
    ids = np.concatenate([fork.ids[: fork.options_start], *blocks, fork.ids[fork.options[-1] + 1 :]])
    options = np.empty_like(fork.options)
    options[order] = fork.options_start + np.cumsum(lengths[order]) - 1
    return replace(fork, ids=ids.astype(np.int32), options=options)
