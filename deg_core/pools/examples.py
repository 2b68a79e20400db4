"""Records to examples: queries with their targets, in tokens (training specification, section 2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from deg_core.contract.outcome import outcome_index
from deg_core.contract.plan import ArrayPlan, FieldPlan, FillPlan, Path
from deg_core.contract.pointer import concrete, folded, read_value
from deg_core.contract.query import count_query, generate_query, known_values, leaf_query
from deg_core.contract.walk import array_instances, enclosing_item, known_of
from deg_core.model.fork import MAX_COUNT, ForkTokens, tokenize_query
from deg_core.model.tokens import ContextTokens, Tokens
from deg_core.pools.anchors import gold_regions
from deg_core.pools.annotations import Span
from deg_core.pools.decisions import Question
from deg_core.pools.example import Example, Fork
from deg_core.pools.places import Places
from deg_core.pools.records import DecisionRecord, Record

_ABSENT = object()
_Asked = TypeVar("_Asked", bound=ForkTokens)


def build_example(record: Record | DecisionRecord, tokens: Tokens) -> tuple[Example, Counter[str]]:
    """The example of a record, and how many forks of it were left out, by reason.

    Reasons: no_span (a value whose place is not known), no_gold (a decide field without a value),
    no_text, judged_out, count_out_of_bounds, beyond_count (leaves of items past the MAX_COUNT-th) and
    no_label (questions of decision records).
    """
    context = tokens.encode_context(record.context)
    if isinstance(record, DecisionRecord):
        forks = [_question_fork(question, tokens) for question in record.questions]
        left_out = Counter(no_label=record.skipped)
    else:
        builder = _Builder(record, tokens, context)
        forks = [*builder.counts(), *builder.leaves()]
        left_out = builder.left_out
    example = Example(uid=record.uid, split=record.split, doc_id=record.doc_id, context=context.ids, forks=forks)
    return example, +left_out


def _question_fork(question: Question, tokens: Tokens) -> Fork:
    return _leaf_fork(
        question.plan.fields[0], (), question.plan, tokens, target=np.asarray(question.target, np.float32)
    )


def _leaf_fork(field: FieldPlan, indices: tuple[int, ...], plan: FillPlan, tokens: Tokens, **target: Any) -> Fork:
    query = leaf_query(field, indices, plan)
    start = sum(len(tokens.encode_line(line)) for line in query.lines[: min(query.option_lines, default=0)])
    asked = tokenize_query(tokens, field.kind, folded(field.path), query)
    return Fork(**vars(asked), options_start=start, **target)


class _Builder:
    """The forks of one record; left_out counts those that cannot train."""

    def __init__(self, record: Record, tokens: Tokens, context: ContextTokens):
        self.left_out: Counter[str] = Counter()
        self._record = record
        self._tokens = tokens
        self._context = context
        self._places = Places(record.context)
        self._regions = gold_regions(record, context)

    def counts(self) -> Iterator[Fork]:
        """One fork an array instance: a one-hot of its length over the admissible ones."""
        for array, indices in array_instances(self._record.plan, self._record.lengths):
            if any(index >= MAX_COUNT for index in indices):
                self.left_out["beyond_count"] += 1
                continue
            fork = self._count(array, indices)
            if fork is not None:
                yield fork

    def _count(self, array: ArrayPlan, indices: tuple[int, ...]) -> Fork | None:
        length = self._record.lengths[concrete(array.path, indices)]
        high = MAX_COUNT if array.max_items is None else min(array.max_items, MAX_COUNT)
        if not array.min_items <= length <= high:
            self.left_out["count_out_of_bounds"] += 1
            return None
        target = np.zeros(MAX_COUNT + 1, np.float32)
        target[length] = 1.0
        asked = tokenize_query(self._tokens, "count", folded(array.path), count_query(array, indices))
        asked = self._placed(asked, array.path, indices)
        items = self._regions.get(concrete(array.path, indices), [])
        spans = np.asarray(items, np.int32).reshape(-1, 2)
        return Fork(**vars(asked), target=target, bounds=(array.min_items, high), spans=spans)

    def _placed(self, asked: _Asked, path: Path, indices: tuple[int, ...]) -> _Asked:
        """The query with the region of the item that it is about, where that is known."""
        item = enclosing_item(path, indices)
        regions = self._regions.get(item[0]) if item else None
        if item is None or regions is None:
            return asked
        anchor, end = regions[item[1]]
        return replace(asked, anchor=anchor, region_end=end)

    def leaves(self) -> Iterator[Fork]:
        """One fork a leaf instance that can train, in leaf order."""
        makers = {"extract": self._extract, "generate": self._generate}
        for pointer, (field, indices) in self._record.leaves.items():
            if any(index >= MAX_COUNT for index in indices):
                self.left_out["beyond_count"] += 1
                continue
            fork = makers.get(field.kind, self._decide)(pointer, field, indices)
            if fork is not None:
                yield fork

    def _decide(self, pointer: str, field: FieldPlan, indices: tuple[int, ...]) -> Fork | None:
        target = self._record.annotations.probabilities.get(pointer) or self._one_hot(pointer, field)
        if target is None:
            self.left_out["no_gold"] += 1
            return None
        return _leaf_fork(field, indices, self._record.plan, self._tokens, target=np.asarray(target, np.float32))

    def _one_hot(self, pointer: str, field: FieldPlan) -> tuple[float, ...] | None:
        at = outcome_index(field, read_value(self._record.value, pointer, _ABSENT))
        return None if at is None else tuple(float(index == at) for index in range(len(field.outcomes)))

    def _extract(self, pointer: str, field: FieldPlan, indices: tuple[int, ...]) -> Fork | None:
        value = read_value(self._record.value, pointer, None)
        if value is None:
            return self._placed(_leaf_fork(field, indices, self._record.plan, self._tokens), field.path, indices)
        spans, weights = self._spans(pointer, field, value)
        if not len(spans):
            self.left_out["no_span"] += 1
            return None
        fork = _leaf_fork(field, indices, self._record.plan, self._tokens, spans=spans, span_weights=weights)
        return self._placed(fork, field.path, indices)

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
        for index, span in enumerate(spans):
            covered = self._context.cover(*span)
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
        asked = tokenize_query(
            self._tokens, "generate", folded(field.path), generate_query(field, indices, self._record.plan)
        )
        target = np.asarray([*self._tokens.encode_text(text), self._tokens.end_id], np.int32)
        start = len(known) + len(asked.ids)
        ids = np.concatenate([known, asked.ids, target])
        return Fork(kind="generate", field=asked.field, ids=ids, lm_start=start)

    def _known_ids(self) -> np.ndarray:
        """int32 [k]: the block of decided and extracted values that every generated field follows."""
        query = known_values(known_of(self._record.plan, self._record.value))
        return np.asarray([i for line in query.lines for i in self._tokens.encode_line(line)], np.int32)
