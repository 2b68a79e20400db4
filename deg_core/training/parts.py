"""Parts of a step: records with the forks that this part answers (training specification, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deg_core.model.families.shape import ModelShape
from deg_core.model.rows import QUERY_BLOCK
from deg_core.pools.example import Example

FEATURES = ("parts", "rows", "trunk_tokens", "fork_tokens", "trunk_pairs", "fork_pairs", "head_logits", "lm_logits")
POINTER_KINDS = ("extract", "count")


@dataclass(frozen=True)
class Part:
    """examples: records; forks: for each, the indices of the forks that this part answers."""

    examples: tuple[Example, ...]
    forks: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if len(self.examples) != len(self.forks) or not self.examples:
            raise ValueError("a part has at least one record, and fork indices for each")

    @classmethod
    def whole(cls, examples: Sequence[Example]) -> Part:
        """All forks of these records."""
        return cls(tuple(examples), tuple(tuple(range(len(example.forks))) for example in examples))


def split(part: Part) -> tuple[Part, Part] | None:
    """Two halves: of the records, or of a single record's forks; None for one record with one fork."""
    if len(part.examples) > 1:
        middle = len(part.examples) // 2
        return (
            Part(part.examples[:middle], part.forks[:middle]),
            Part(part.examples[middle:], part.forks[middle:]),
        )
    chosen = part.forks[0]
    if len(chosen) < 2:
        return None
    middle = len(chosen) // 2
    return Part(part.examples, (chosen[:middle],)), Part(part.examples, (chosen[middle:],))


def features(part: Part, shape: ModelShape) -> dict[str, float]:
    """What a part's memory grows with, keyed by FEATURES.

    parts: 1, for what every part takes. rows: forks. trunk_pairs, fork_pairs: attention scores of one layer, all
    query heads: query tokens times the keys of their block. head_logits: pointer scores, forks of POINTER_KINDS times
    context tokens. lm_logits: target tokens times vocabulary.
    """
    found = dict.fromkeys(FEATURES, 0.0)
    found["parts"] = 1.0
    for example, chosen in zip(part.examples, part.forks, strict=True):
        context = len(example.context)
        forks = [example.forks[index] for index in chosen]
        own = sum(len(fork.ids) for fork in forks)
        targets = sum(len(fork.ids) - fork.lm_start for fork in forks if fork.kind == "generate")
        found["rows"] += len(forks)
        found["trunk_tokens"] += context
        found["fork_tokens"] += own
        found["trunk_pairs"] += context * (context + QUERY_BLOCK) / 2 * shape.heads
        found["fork_pairs"] += own * (context + own) * shape.heads
        found["head_logits"] += context * sum(fork.kind in POINTER_KINDS for fork in forks)
        found["lm_logits"] += targets * shape.vocab
    return found
