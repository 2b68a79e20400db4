"""Micro-batches from pools: a pure function of seed, step and rank (training specification, section 3)."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.pools.caps import cap_decide_forks, cap_forks, shuffle_options
from deg_core.pools.example import Example
from deg_core.pools.store import Pool
from deg_core.pools.window import window

CANDIDATES = 96
SHUFFLE_PROBABILITY = 0.5
MAX_TRIES = 16


class Drawer:
    """Draws the records of a step.

    pools: each with its share of the draws. settings: budgets and caps. max_context_tokens: a longer
    context trains a window. counts: what the draws so far did: records, windows, window_targets,
    window_dropped, not_windowed, subsampled_records, subsampled_forks.

    Raises InputError when no pool holds a record that trains.
    """

    def __init__(
        self, pools: Sequence[tuple[Pool, float]], settings: TrainSettings, max_context_tokens: int, seed: int
    ):
        self._pools = list(pools)
        self._settings = settings
        self._max_context = max_context_tokens
        self._seed = seed
        self._shards: dict[tuple[int, int], list[np.ndarray]] = {}
        self.counts: Counter[str] = Counter()
        if not any(len(shard) for shard in self._shard(0, 1)):
            names = ", ".join(pool.manifest.id for pool, _ in self._pools) or "no pool"
            raise InputError(f"nothing to train on: no record of split train with a trainable field in {names}")

    def draw(self, step: int, rank: int = 0, world: int = 1, redraw: int = 0) -> list[Example]:
        """The examples of a rank's step, shortest context first; redraw > 0 gives other ones for the same step.

        At least one; more while context and fork tokens stay within budget_tokens, at most max_records.
        Raises InputError when the rank owns no record that trains.
        """
        rng = np.random.default_rng([self._seed, step, rank, redraw])
        shards = self._shard(rank, world)
        weights = np.array([weight * bool(len(s)) for (_, weight), s in zip(self._pools, shards, strict=True)])
        if not weights.sum():
            raise InputError(f"rank {rank} of {world} owns no record that trains; use fewer processes")
        for _ in range(MAX_TRIES):
            source = int(rng.choice(len(weights), p=weights / weights.sum()))
            examples = self._pack(self._pools[source][0], shards[source], rng)
            if examples:
                return examples
        raise InputError(
            f"{MAX_TRIES} draws met only contexts over {self._max_context} tokens without a span to put a window on; "
            "raise max_context_tokens"
        )

    def _shard(self, rank: int, world: int) -> list[np.ndarray]:
        """Of each pool, int64 indices of the records that this rank owns and that train."""
        key = (rank, world)
        if key not in self._shards:
            self._shards[key] = [_owned(pool, rank, world) for pool, _ in self._pools]
        return self._shards[key]

    def _pack(self, pool: Pool, shard: np.ndarray, rng: np.random.Generator) -> list[Example]:
        """Rows are packed without padding, so contexts of all lengths go together and a step sees a fair sample."""
        drawn = rng.choice(shard, size=min(CANDIDATES, len(shard)), replace=False)
        return sorted(self._fill(pool, drawn, rng), key=lambda example: (len(example.context), example.uid))

    def _fill(self, pool: Pool, indices: np.ndarray, rng: np.random.Generator) -> list[Example]:
        """Examples in order while they fit; the first fits always."""
        run: list[Example] = []
        tokens = 0
        for example in self._prepared(pool, indices, rng):
            tokens += example.tokens
            if run and tokens > self._settings.budget_tokens:
                break
            run.append(example)
            if len(run) == self._settings.max_records:
                break
        return run

    def _prepared(self, pool: Pool, indices: np.ndarray, rng: np.random.Generator) -> Iterator[Example]:
        for index in indices:
            example = self._windowed(pool.example(int(index)), rng)
            if example is None:
                self.counts["not_windowed"] += 1
                continue
            self.counts["records"] += 1
            yield self._capped(example, rng)

    def _windowed(self, example: Example, rng: np.random.Generator) -> Example | None:
        if len(example.context) <= self._max_context:
            return example
        cropped = window(example, self._max_context, rng)
        if cropped is not None:
            self.counts["windows"] += 1
            self.counts["window_targets"] += len(cropped.forks)
            self.counts["window_dropped"] += len(example.forks) - len(cropped.forks)
        return cropped

    def _capped(self, example: Example, rng: np.random.Generator) -> Example:
        forks = cap_decide_forks(example.forks, self._settings.decide_forks_per_field, rng)
        forks = cap_forks(forks, self._settings.record_fork_tokens, rng)
        if len(forks) < len(example.forks):
            self.counts["subsampled_records"] += 1
            self.counts["subsampled_forks"] += len(example.forks) - len(forks)
        forks = [
            shuffle_options(fork, rng) if fork.kind == "choice" and rng.random() < SHUFFLE_PROBABILITY else fork
            for fork in forks
        ]
        return Example(example.uid, example.split, example.doc_id, example.context, forks)


def _owned(pool: Pool, rank: int, world: int) -> np.ndarray:
    trains = [
        split == "train" and count > 0 and zlib.crc32(uid.encode()) % world == rank
        for split, count, uid in zip(pool.splits, pool.fork_counts, pool.uids, strict=True)
    ]
    return np.flatnonzero(trains)
