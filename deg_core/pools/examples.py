"""Records to examples: queries with their targets, in tokens (training specification, section 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from deg_core.config import FillOptions, Forks
from deg_core.contract.outcome import outcome_index
from deg_core.contract.plan import ITEM, FieldPlan, Path
from deg_core.contract.pointer import concrete, folded, read_value
from deg_core.contract.query import known_values, option_texts
from deg_core.contract.walk import array_instances, enclosing_items, known_of, placed_arrays
from deg_core.model.fork import MAX_COUNT, ForkTokens
from deg_core.model.queries import DocumentQueries, QueryLayout
from deg_core.model.tokens import ContextTokens, Tokens
from deg_core.pools.anchors import gold_regions
from deg_core.pools.annotations import Annotations, Span
from deg_core.pools.decisions import Question
from deg_core.pools.example import Example, Fork
from deg_core.pools.places import Places
from deg_core.pools.records import DecisionRecord, Record

_ABSENT = object()
BY_NUMBER = QueryLayout()


def build_example(
    record: Record | DecisionRecord,
    tokens: Tokens,
    layout: QueryLayout = BY_NUMBER,
    before: str = "",
    after: str = "",
    kept: Forks = "all",
) -> tuple[Example, Counter[str]]:
    """The example of a record, and how many forks of it were left out, by reason.

    before, after: other text around the context of a record that is no decision record; values are looked for in the
    record's own. kept: which forks.
    Reasons: no_span (a value whose place is not known), no_gold (a decide field without a value),
    no_text, judged_out, over_budget (a text of more tokens than its field may take), count_out_of_bounds, beyond_count (leaves of items past the MAX_COUNT-th, where items are named
    by number), no_place (anchored arrays with an item whose place is not known, and their leaves) and no_label
    (questions of decision records).
    """
    context = tokens.encode_context(before + record.context + after)
    decision = isinstance(record, DecisionRecord)
    if isinstance(record, DecisionRecord):
        forks = [_question_fork(question, record.context, context, tokens) for question in record.questions]
        left_out = Counter(no_label=record.skipped)
    else:
        builder = _Builder(record, tokens, context, layout, before, after)
        forks = [*builder.counts(), *builder.leaves()]
        left_out = builder.left_out
    if kept == "generate":
        forks = [fork for fork in forks if fork.kind == "generate"]
    return Example(record.uid, record.split, record.doc_id, context.ids, forks, decision), +left_out


def build_absent(record: Record, text: str, tokens: Tokens, layout: QueryLayout = BY_NUMBER) -> Example:
    """The record's queries about a text that has nothing to do with it, as far as that says what is right.

    Top-level arrays that hold copied values and may be empty have no item there; nothing else is asked.
    """
    arrays = [array for array in record.plan.arrays if ITEM not in array.path]
    empty = replace(
        record,
        context=text,
        lengths={concrete(array.path): 0 for array in arrays},
        leaves={},
        annotations=Annotations(),
    )
    context = tokens.encode_context(text)
    placed = {folded(path) for path in placed_arrays(record.plan)}
    counts = _Builder(empty, tokens, context, layout).counts()
    forks = [fork for fork in counts if fork.field in placed]
    return Example(record.uid, record.split, record.doc_id, context.ids, forks)


def _question_fork(question: Question, text: str, context: ContextTokens, tokens: Tokens) -> Fork:
    queries = DocumentQueries(tokens, question.plan, text, context, BY_NUMBER)
    field = question.plan.fields[0]
    return _leaf_fork(queries.leaf(field, ()), field, tokens, target=np.asarray(question.target, np.float32))


def _leaf_fork(asked: ForkTokens, field: FieldPlan, tokens: Tokens, **target: Any) -> Fork:
    """A leaf's query with its target."""
    if len(asked.options):
        first_line = len(tokens.encode_line(f"- {option_texts(field)[0]}\n"))
        target["options_start"] = int(asked.options[0]) + 1 - first_line
    return Fork(**vars(asked), **target)


class _Builder:
    """The forks of one record; left_out counts those that cannot train. context: with the text before and after it."""

    def __init__(
        self,
        record: Record,
        tokens: Tokens,
        context: ContextTokens,
        layout: QueryLayout,
        before: str = "",
        after: str = "",
    ):
        self.left_out: Counter[str] = Counter()
        self._record = record
        self._tokens = tokens
        self._context = context
        self._places = Places(record.context)
        self._offset = len(before)
        text = before + record.context + after
        self._queries = DocumentQueries(tokens, record.plan, text, context, layout)
        self._queries.regions |= gold_regions(record, context, self._offset)

    def counts(self) -> Iterator[Fork]:
        """One fork an array instance that can train: a one-hot of its length over the admissible ones."""
        for array, indices in array_instances(self._record.plan, self._record.lengths):
            by_place = self._queries.by_place(array.path)
            pointer = concrete(array.path, indices)
            if self._cannot_ask(array.path, indices):
                continue
            if by_place and pointer not in self._queries.regions:
                self.left_out["no_place"] += 1
                continue
            length = self._record.lengths[pointer]
            high = MAX_COUNT if array.max_items is None else min(array.max_items, MAX_COUNT)
            if not array.min_items <= (min(length, high) if by_place else length) <= high:
                self.left_out["count_out_of_bounds"] += 1
                continue
            target = np.zeros(MAX_COUNT + 1, np.float32)
            target[min(length, MAX_COUNT)] = 1.0
            spans = np.asarray(self._queries.regions.get(pointer, []), np.int32).reshape(-1, 2)
            asked = self._queries.count(array, indices)
            bounds = (array.min_items, high)
            yield Fork(**vars(asked), target=target, bounds=bounds, spans=spans, by_place=by_place)

    def _cannot_ask(self, path: Path, indices: tuple[int, ...]) -> bool:
        """Whether a place is inside an item that no query can name; that is counted."""
        items = enclosing_items(path, indices)
        if any(number >= MAX_COUNT and not self._queries.by_place(array) for array, _, number in items):
            self.left_out["beyond_count"] += 1
            return True
        if not self._queries.can_ask(path, indices):
            self.left_out["no_place"] += 1
            return True
        return False

    def _is_by_place(self, path: Path, indices: tuple[int, ...]) -> bool:
        items = enclosing_items(path, indices)
        return bool(items) and all(self._queries.by_place(array) for array, _, _ in items)

    def leaves(self) -> Iterator[Fork]:
        """One fork a leaf instance that can train, in leaf order."""
        makers = {"extract": self._extract, "generate": self._generate}
        for pointer, (field, indices) in self._record.leaves.items():
            if self._cannot_ask(field.path, indices):
                continue
            fork = makers.get(field.kind, self._decide)(pointer, field, indices)
            if fork is not None:
                yield replace(fork, by_place=self._is_by_place(field.path, indices))

    def _leaf(self, field: FieldPlan, indices: tuple[int, ...], **target: Any) -> Fork:
        return _leaf_fork(self._queries.leaf(field, indices), field, self._tokens, **target)

    def _decide(self, pointer: str, field: FieldPlan, indices: tuple[int, ...]) -> Fork | None:
        target = self._record.annotations.probabilities.get(pointer) or self._one_hot(pointer, field)
        if target is None:
            self.left_out["no_gold"] += 1
            return None
        return self._leaf(field, indices, target=np.asarray(target, np.float32))

    def _one_hot(self, pointer: str, field: FieldPlan) -> tuple[float, ...] | None:
        at = outcome_index(field, read_value(self._record.value, pointer, _ABSENT))
        return None if at is None else tuple(float(index == at) for index in range(len(field.outcomes)))

    def _extract(self, pointer: str, field: FieldPlan, indices: tuple[int, ...]) -> Fork | None:
        value = read_value(self._record.value, pointer, None)
        if value is None:
            return self._leaf(field, indices)
        spans, weights = self._spans(pointer, field, value)
        if not len(spans):
            self.left_out["no_span"] += 1
            return None
        return self._leaf(field, indices, spans=spans, span_weights=weights)

    def _spans(self, pointer: str, field: FieldPlan, value: Any) -> tuple[np.ndarray, np.ndarray]:
        """Token ranges int32 [s, 2] of a present value, and their soft target float32 [s] or [0]."""
        annotations = self._record.annotations
        spans: tuple[Span, ...] = annotations.spans.get(pointer, ())
        weights = annotations.span_weights.get(pointer)
        if not spans:
            spans = self._places.find(field, value, unique=True)
        elif pointer in annotations.repeated and weights is None:
            spans += self._places.find(field, value, unique=False)
        ranges: dict[tuple[int, int], float] = {}
        for index, (start, end) in enumerate(spans):
            covered = self._context.cover(start + self._offset, end + self._offset)
            if covered is not None:
                ranges[covered] = ranges.get(covered, 0.0) + (weights[index] if weights else 0.0)
        soft = np.asarray(list(ranges.values()) if weights else [], np.float32)
        if weights and soft.sum() > 0:
            soft /= soft.sum()
        return np.asarray(list(ranges), np.int32).reshape(-1, 2), soft

    def _generate(self, pointer: str, field: FieldPlan, indices: tuple[int, ...]) -> Fork | None:
        text = read_value(self._record.value, pointer, None)
        if text is None:
            self.left_out["no_text"] += 1
            return None
        if not self._record.annotations.keeps(pointer):
            self.left_out["judged_out"] += 1
            return None
        known = self._known_ids()
        asked = self._queries.generate(field, indices, indices)
        target = np.asarray([*self._tokens.encode_text(text), self._tokens.end_id], np.int32)
        if len(target) - 1 > (field.max_tokens or FillOptions().max_new_tokens):
            self.left_out["over_budget"] += 1
            return None
        start = len(known) + len(asked.ids)
        ids = np.concatenate([known, asked.ids, target])
        return Fork(kind="generate", field=asked.field, ids=ids, lm_start=start)

    def _known_ids(self) -> np.ndarray:
        """int32 [k]: the block of decided and extracted values that every generated field follows."""
        query = known_values(known_of(self._record.plan, self._record.value))
        return np.asarray([i for line in query.lines for i in self._tokens.encode_line(line)], np.int32)
