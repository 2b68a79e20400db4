"""The queries of one document in tokens, made alike for training and inference (contract sections 12.1 and 12.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from deg_core.config import ArrayMode, GenLayout
from deg_core.contract.plan import ArrayPlan, FieldPlan, FillPlan, Path
from deg_core.contract.pointer import folded
from deg_core.contract.query import ItemName, Query, count_query, generate_query, leaf_query
from deg_core.contract.walk import Indices, enclosing_items, placed_arrays
from deg_core.model.fork import ForkTokens, tokenize_query
from deg_core.model.tokens import ContextTokens, Tokens

Region = tuple[int, int]
PLACE_TOKENS = 24
"""Context tokens from an item's start by which a query names it."""


@dataclass(frozen=True)
class QueryLayout:
    """How a checkpoint is asked.

    mode: how queries name array items, by number ("index") or by the text where they start ("anchor"). min_tokens:
    contexts of fewer tokens are filled by number in anchor mode too. gen_layout: how text is asked for, by lines of the
    queries' own form ("deg") or as an instruction in the base's chat ("chat").
    """

    mode: ArrayMode = "index"
    min_tokens: int = 0
    gen_layout: GenLayout = "deg"

    def __str__(self) -> str:
        text = f"{self.mode} from {self.min_tokens} tokens" if self.min_tokens else self.mode
        return text if self.gen_layout == "deg" else f"{text}, text by {self.gen_layout}"

    def by_place(self, tokens: int) -> bool:
        """Whether items in a context of this many tokens are named by their text."""
        return self.mode == "anchor" and tokens >= self.min_tokens


class DocumentQueries:
    """Makes the queries of one document and plan.

    regions: by the pointer of an array whose items have a place, the half-open token range of each item: from where
    it starts to where the next one does. The caller adds them as they are found. layout: how the checkpoint is asked;
    an item that is named by its text is asked about only when its region is known.
    """

    def __init__(self, tokens: Tokens, plan: FillPlan, text: str, context: ContextTokens, layout: QueryLayout):
        self.regions: dict[str, list[Region]] = {}
        self._tokens = tokens
        self._text = text
        self._context = context
        self._placed = placed_arrays(plan)
        self._by_place = layout.by_place(len(context))
        self._chat = layout.gen_layout == "chat"

    def has_places(self, array: ArrayPlan) -> bool:
        """Whether an array's items have places in the text."""
        return array.path in self._placed

    def by_place(self, array: Path) -> bool:
        """Whether queries name the items of the array at a path by their text."""
        return self._by_place and array in self._placed

    def region(self, path: Path, indices: Indices) -> Region | None:
        """The region of the innermost item around a place, None where it has none."""
        items = enclosing_items(path, indices)
        regions = self.regions.get(items[-1][1]) if items else None
        return regions[items[-1][2]] if regions is not None else None

    def can_ask(self, path: Path, indices: Indices) -> bool:
        """Whether every item around a place that is named by its text has one."""
        return all(
            pointer in self.regions for array, pointer, _ in enclosing_items(path, indices) if self.by_place(array)
        )

    def leaf(self, field: FieldPlan, indices: Indices) -> ForkTokens:
        """The query of a decide or extract leaf."""
        return self._placed_fork(field.kind, field.path, indices, leaf_query(field, self._names(field.path, indices)))

    def count(self, array: ArrayPlan, indices: Indices) -> ForkTokens:
        """The query for an array's length and where its items start."""
        return self._placed_fork("count", array.path, indices, count_query(array, self._names(array.path, indices)))

    def generate(self, field: FieldPlan, indices: Indices, numbers: Indices) -> ForkTokens:
        """The query of a generate leaf. numbers: its indices in the final value, indices: before items were dropped."""
        query = generate_query(field, self._names(field.path, indices, numbers), self._chat)
        fork = tokenize_query(self._tokens, "generate", folded(field.path), query)
        if self._chat:
            fork = replace(fork, ids=np.concatenate((fork.ids, np.asarray(self._tokens.answer_ids, np.int32))))
        return fork

    def _placed_fork(self, kind: str, path: Path, indices: Indices, query: Query) -> ForkTokens:
        fork = tokenize_query(self._tokens, kind, folded(path), query)
        region = self.region(path, indices)
        return fork if region is None else replace(fork, anchor=region[0], region_end=region[1])

    def _names(self, path: Path, indices: Indices, numbers: Indices | None = None) -> list[ItemName]:
        items = zip(enclosing_items(path, indices), numbers or indices, strict=True)
        return [
            self._text_at(*self.regions[pointer][index]) if self.by_place(array) else number
            for (array, pointer, index), number in items
        ]

    def _text_at(self, anchor: int, end: int) -> str:
        last = min(anchor + PLACE_TOKENS, end) - 1
        return self._text[self._context.starts[anchor] : self._context.ends[last]].strip()
