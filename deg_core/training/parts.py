"""Parts of a step: records with the forks that this part answers (training specification, section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deg_core.model.families.shape import ModelShape
from deg_core.model.rows import QUERY_BLOCK, together
from deg_core.pools.example import Example
from deg_core.training.trunk import PIECE_TOKENS, is_long

FEATURES = (
    "parts",
    "rows",
    "trunk_tokens",
    "long_tokens",
    "fork_tokens",
    "trunk_pairs",
    "fork_pairs",
    "largest_pairs",
    "head_logits",
    "lm_logits",
)
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

    @property
    def trunk_tokens(self) -> int:
        """Context tokens of its records."""
        return sum(len(example.context) for example in self.examples)

    @property
    def fork_tokens(self) -> int:
        """Tokens of the forks that it answers."""
        return sum(len(e.forks[j].ids) for e, chosen in zip(self.examples, self.forks, strict=True) for j in chosen)


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


def same_trunk(parts: Sequence[Part]) -> list[list[Part]]:
    """Neighbouring parts of one and the same record together; others alone."""
    runs: list[list[Part]] = []
    for part in parts:
        before = runs[-1][0].examples if runs else ()
        if len(before) == len(part.examples) == 1 and before[0] is part.examples[0]:
            runs[-1].append(part)
        else:
            runs.append([part])
    return runs


def features(part: Part, shape: ModelShape) -> dict[str, float]:
    """What a part's memory grows with, keyed by FEATURES.

    parts: 1, for what every part takes. rows: forks. trunk_tokens, long_tokens: of contexts that are read at once, and
    in pieces. trunk_pairs, fork_pairs: attention scores of one layer, all query heads: query tokens times the keys of
    their block; a trunk in pieces keeps those of one piece in one layer alone. largest_pairs: those of the largest block
    of forks: what a layer frees of them can be too small a place for the next layer's. head_logits: pointer scores, forks
    of POINTER_KINDS times context tokens. lm_logits: target tokens times vocabulary.
    """
    found = dict.fromkeys(FEATURES, 0.0)
    found["parts"] = 1.0
    for example, chosen in zip(part.examples, part.forks, strict=True):
        context = len(example.context)
        forks = [example.forks[index] for index in chosen]
        lengths = [len(fork.ids) for fork in forks]
        targets = sum(len(fork.ids) - fork.lm_start for fork in forks if fork.kind == "generate")
        found["rows"] += len(forks)
        found["fork_tokens"] += sum(lengths)
        if is_long(context):
            found["long_tokens"] += context
            found["trunk_pairs"] += PIECE_TOKENS * context * shape.heads / shape.layers
        else:
            found["trunk_tokens"] += context
            found["trunk_pairs"] += context * (context + QUERY_BLOCK) / 2 * shape.heads
        for first, last in together(lengths):
            queries = sum(lengths[first:last])
            pairs = float(queries * (context + queries) * shape.heads)
            found["fork_pairs"] += pairs
            found["largest_pairs"] = max(found["largest_pairs"], pairs)
        found["head_logits"] += context * sum(fork.kind in POINTER_KINDS for fork in forks)
        found["lm_logits"] += targets * shape.vocab
    return found
