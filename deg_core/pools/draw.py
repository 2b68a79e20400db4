"""Micro-batches from pools: a pure function of seed, step, rank and redraw (training specification, section 3)."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deg_core.config import TrainSettings
from deg_core.contract.errors import InputError
from deg_core.model.tokens import Tokens
from deg_core.pools.caps import cap_decide_forks, cap_forks, cap_parts, shuffle_options
from deg_core.pools.example import Example
from deg_core.pools.filler import Filler
from deg_core.pools.store import Pool
from deg_core.pools.window import window

CANDIDATES = 96
SHUFFLE_PROBABILITY = 0.5
MAX_TRIES = 16
COUNTS = (
    "decision_records",
    "windows",
    "window_targets",
    "window_dropped",
    "not_windowed",
    "filler",
    "filler_negative",
    "filler_tokens",
    "filler_skipped",
    "subsampled_records",
    "subsampled_forks",
)


@dataclass(frozen=True)
class Shard:
    """What trains of a pool on one rank: int64 indices of its ordinary records and of its decision records."""

    records: np.ndarray
    decisions: np.ndarray


class Drawer:
    """Draws the records of a step.

    pools: each with its share of the draws. settings: budgets, shares and caps. max_context_tokens: a longer
    context trains a window. tokens: of the pools' base, needed where filler_frac is above 0. parts_of: into how many
    parts the memory planner would cut an example, for max_record_parts; draws depend on it then.
    counts: what the examples drawn so far are: records and, of COUNTS, decision_records; windows, with the forks that
    they train and drop; filler (filler_negative: without the record, filler_tokens: added by it); those with a part of
    their forks. not_windowed and filler_skipped count what could not be done.

    Raises InputError when no pool holds a record that trains.
    """

    def __init__(
        self,
        pools: Sequence[tuple[Pool, float]],
        settings: TrainSettings,
        max_context_tokens: int,
        seed: int,
        tokens: Tokens | None = None,
        parts_of: Callable[[Example], int] | None = None,
    ):
        self._pools = [pool for pool, _ in pools]
        self._weights = np.array([weight for _, weight in pools])
        self._settings = settings
        self._max_context = max_context_tokens
        self._seed = seed
        self._parts_of = parts_of
        self._shards: dict[tuple[int, int], list[Shard]] = {}
        self.counts: Counter[str] = Counter()
        whole = self._shard(0, 1)
        self._active = np.array([len(shard.records) >= settings.source_min_train for shard in whole])
        if not any(len(shard.records) + len(shard.decisions) for shard in whole):
            names = ", ".join(pool.manifest.id for pool in self._pools) or "no pool"
            raise InputError(f"nothing to train on: no record of split train with a trainable field in {names}")
        self._filler: Filler | None = None
        if settings.filler_frac:
            if tokens is None:
                raise ValueError("filler needs the tokenizer of the pools")
            most = min(settings.filler_max_tokens, max_context_tokens)
            self._filler = Filler(self._pools, tokens, most, settings.filler_negative_frac)

    def draw(self, step: int, rank: int = 0, world: int = 1, redraw: int = 0) -> list[Example]:
        """The examples of a rank's step, shortest context first; redraw > 0 gives other ones for the same step.

        At least one; more while context and fork tokens stay within budget_tokens, at most max_records. All are of
        one source, but for decision records: each place is one of those, of any source, with probability jev_frac.
        Raises InputError when the rank owns no record that trains.
        """
        rng = np.random.default_rng([self._seed, step, rank, redraw])
        shards = self._shard(rank, world)
        if not any(len(shard.records) + len(shard.decisions) for shard in shards):
            raise InputError(f"rank {rank} of {world} owns no record that trains; use fewer processes")
        for _ in range(MAX_TRIES):
            # rows are packed without padding, so contexts of all lengths go together and a step sees a fair sample
            examples = self._fill(self._candidates(shards, rng), rng)
            if examples:
                return sorted(examples, key=lambda example: (len(example.context), example.uid))
        raise InputError(
            f"{MAX_TRIES} draws met only contexts over {self._max_context} tokens without a span to put a window on; "
            "raise max_context_tokens"
        )

    def _shard(self, rank: int, world: int) -> list[Shard]:
        key = (rank, world)
        if key not in self._shards:
            self._shards[key] = [_owned(pool, rank, world) for pool in self._pools]
        return self._shards[key]

    def _candidates(self, shards: Sequence[Shard], rng: np.random.Generator) -> Iterator[tuple[Pool, int]]:
        """Pool and row of up to CANDIDATES records, none twice; they end early where the kind that is due runs out."""
        records = self._records(shards, rng)
        decisions = self._decisions(shards, rng)
        share = self._settings.jev_frac if records and decisions else float(not records)
        for is_decision in rng.random(CANDIDATES) < share:
            due = decisions if is_decision else records
            if not due:
                return
            yield due.pop()

    def _records(self, shards: Sequence[Shard], rng: np.random.Generator) -> list[tuple[Pool, int]]:
        """Ordinary records of one source, picked by weight among the active ones, else among all that have some."""
        filled = np.array([len(shard.records) > 0 for shard in shards])
        chosen = filled & self._active if (filled & self._active).any() else filled
        if not chosen.any():
            return []
        weights = self._weights * chosen
        source = int(rng.choice(len(weights), p=weights / weights.sum()))
        return self._rows(source, shards[source].records, CANDIDATES, rng)

    def _decisions(self, shards: Sequence[Shard], rng: np.random.Generator) -> list[tuple[Pool, int]]:
        """Decision records of all sources by weight."""
        weights = self._weights * [len(shard.decisions) > 0 for shard in shards]
        if not weights.sum():
            return []
        times = Counter(rng.choice(len(weights), CANDIDATES, p=weights / weights.sum()).tolist())
        rows = [
            row
            for source, count in sorted(times.items())
            for row in self._rows(source, shards[source].decisions, count, rng)
        ]
        return [rows[index] for index in rng.permutation(len(rows))]

    def _rows(self, source: int, owned: np.ndarray, most: int, rng: np.random.Generator) -> list[tuple[Pool, int]]:
        drawn = rng.choice(owned, size=min(most, len(owned)), replace=False)
        return [(self._pools[source], int(row)) for row in drawn]

    def _fill(self, candidates: Iterator[tuple[Pool, int]], rng: np.random.Generator) -> list[Example]:
        """Examples in order while they fit; the first fits always."""
        run: list[Example] = []
        tokens = 0
        for pool, row in candidates:
            counts: Counter[str] = Counter()
            example = self._prepared(pool, pool.example(row), rng, counts)
            if example is None:
                self.counts["not_windowed"] += 1
                continue
            tokens += example.tokens
            if run and tokens > self._settings.budget_tokens:
                break
            self.counts += counts
            run.append(example)
            if len(run) == self._settings.max_records:
                break
        return run

    def _prepared(self, pool: Pool, example: Example, rng: np.random.Generator, counts: Counter[str]) -> Example | None:
        counts["records"] = 1
        counts["decision_records"] = int(example.decision)
        if len(example.context) > self._max_context:
            cropped = window(example, self._max_context, rng)
            if cropped is None:
                return None
            counts.update(windows=1, window_targets=len(cropped.forks))
            counts["window_dropped"] = len(example.forks) - len(cropped.forks)
            return self._capped(cropped, rng, counts)
        if self._filler and not example.decision and rng.random() < self._settings.filler_frac:
            example = self._filled(self._filler, pool, example, rng, counts)
        return self._capped(example, rng, counts)

    def _filled(
        self, filler: Filler, pool: Pool, example: Example, rng: np.random.Generator, counts: Counter[str]
    ) -> Example:
        built = filler.build(pool, example, rng)
        if built is None:
            counts["filler_skipped"] = 1
            return example
        filled, absent = built
        counts.update(filler=1, filler_negative=int(absent))
        counts["filler_tokens"] = len(filled.context) - (0 if absent else len(example.context))
        return filled

    def _capped(self, example: Example, rng: np.random.Generator, counts: Counter[str]) -> Example:
        settings = self._settings
        left = max(settings.budget_tokens - len(example.context), settings.budget_tokens // 2)
        forks = cap_decide_forks(example.forks, settings.decide_forks_per_field, rng)
        forks = cap_forks(forks, settings.record_fork_tokens or left, rng)
        if settings.max_record_parts and self._parts_of is not None:
            forks = cap_parts(replace(example, forks=forks), settings.max_record_parts, self._parts_of, rng)
        if len(forks) < len(example.forks):
            counts.update(subsampled_records=1, subsampled_forks=len(example.forks) - len(forks))
        forks = [
            shuffle_options(fork, rng) if fork.kind == "choice" and rng.random() < SHUFFLE_PROBABILITY else fork
            for fork in forks
        ]
        return replace(example, forks=forks)


def _owned(pool: Pool, rank: int, world: int) -> Shard:
    trains = [
        split == "train" and count > 0 and zlib.crc32(uid.encode()) % world == rank
        for split, count, uid in zip(pool.splits, pool.fork_counts, pool.uids, strict=True)
    ]
    owned = np.asarray(trains, bool)
    return Shard(np.flatnonzero(owned & ~pool.decisions), np.flatnonzero(owned & pool.decisions))
