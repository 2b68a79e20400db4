"""A response beside the gold value: one row per leaf and per array (design section 6, contract section 11).

Rules of `correct`:
* decide.choice and decide.noul: the same JSON value and type; decide.score: the same level.
* extract.span: the same text after folding white space, or the text of a gold span in the context.
* extract.number: numerically equal; extract.date: the same ISO string.
* generate: token F1 of at least GENERATE_CORRECT_F1. count (one row per array): the same length.
* a leaf whose array item exists on one side only is wrong.
* `aligned` is the same with every array's items moved beside their partners (align.py).
* a decide or generate leaf that the gold value leaves out was never judged: correct is None.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import regex

from deg_core.contract.plan import FieldPlan, Path
from deg_core.contract.pointer import folded, join
from deg_core.evaluation.align import ABSENT, align
from deg_core.pools.records import Record

GENERATE_CORRECT_F1 = 0.5
COUNT = "count"
TEXT_MODES = ("extract.span", "generate")

_WORD = regex.compile(r"[\p{L}\p{N}]+(?:[.,][\p{N}]+)*")


@dataclass(frozen=True)
class Answer:
    """What one system answered for one document.

    value: the filled JSON object, or None when there is none (failed or unfinished).
    meta: the response's meta by concrete pointer; empty for a system that reports none.
    generated_tokens, sampled_tokens, ms: of the whole document.
    per_leaf_tokens: whether meta says which leaf its generated tokens belong to.
    """

    value: Any
    meta: Mapping[str, Mapping[str, Any]]
    generated_tokens: int = 0
    sampled_tokens: int = 0
    ms: float = 0.0
    per_leaf_tokens: bool = False


def compare(record: Record, answer: Answer, *, run: str, system: str, source: str) -> list[dict]:
    """Rows of one document, in plan order: every leaf and array found in the gold value or in the answer.

    run: the evaluation's id. source: the records file's name. The keys of a row are ROW_COLUMNS and
    DETAIL_COLUMNS of `deg_core.evaluation.tables`; gold and predicted are JSON text, None where the key is
    absent. Without an answer every judged row is wrong and none counts as a predicted null.
    """
    gold = record.value
    moved = align(gold, answer.value) if record.plan.arrays else answer.value
    rows = []
    for field in record.plan.fields:
        for pointer in _pointers(field.path, gold, answer.value):
            sides, beside = ((_look_up(gold, pointer), _look_up(value, pointer)) for value in (answer.value, moved))
            row = _leaf_row(field, join(pointer), sides, record, answer.meta)
            there = any(exists for _, exists in beside)
            rows.append(row | {"aligned": _correct(field, join(pointer), beside, record)[0] if there else None})
    for array in record.plan.arrays:
        for pointer in _pointers(array.path, gold, answer.value):
            lengths = [_length(_look_up(value, pointer)) for value in (gold, answer.value)]
            rows.append(_count_row(folded(array.path), join(pointer), *lengths))
    if answer.value is None:
        for row in rows:
            wrong = None if row["correct"] is None else False
            row |= {"correct": wrong, "aligned": wrong, "predicted": None, "predicted_null": False}
            row["score"] = 0.0 if row["mode"] in TEXT_MODES and row["correct"] is not None else None
    _add_costs(rows, answer)
    head = {"run": run, "system": system, "source": source, "split": record.split, "uid": record.uid}
    return [head | row for row in rows]


def token_f1(gold: str, predicted: str) -> float:
    """Bag-of-words F1 of two texts, case folded, in [0, 1]; two texts without words agree."""
    left, right = (Counter(_WORD.findall(text.casefold())) for text in (gold, predicted))
    if not left and not right:
        return 1.0
    common = sum((left & right).values())
    return 2 * common / (sum(left.values()) + sum(right.values()))


def present_values(path: Path, value: Any) -> list[Any]:
    """Every value found at a schema path, document order; missing keys and items give none."""
    found = (_look_up(value, pointer)[0] for pointer in _pointers(path, value))
    return [item for item in found if item is not ABSENT]


def _pointers(path: Path, *values: Any) -> list[tuple[str | int, ...]]:
    """Concrete places of a schema path in any of the values: items by index, the last key whether present or not."""
    found: dict[tuple[str | int, ...], None] = {}
    for value in values:
        found.update(dict.fromkeys(_walk(path, value, ())))
    return sorted(found, key=lambda steps: [step for step in steps if isinstance(step, int)])


def _walk(path: Path, value: Any, done: tuple[str | int, ...]) -> Iterator[tuple[str | int, ...]]:
    if not path:
        yield done
        return
    step = path[0]
    if not isinstance(step, str):
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _walk(path[1:], item, (*done, index))
    else:
        child = value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
        yield from _walk(path[1:], child, (*done, step))


def _look_up(value: Any, pointer: tuple[str | int, ...]) -> tuple[Any, bool]:
    """The value at a place (ABSENT where its last key is missing) and whether every array item on the way exists."""
    for step in pointer:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value) or value[step] is ABSENT:
                return ABSENT, False
            value = value[step]
        else:
            value = value.get(step, ABSENT) if isinstance(value, dict) else ABSENT
    return value, True


def _length(found: tuple[Any, bool]) -> int | None:
    value, exists = found
    if not exists:
        return None
    return len(value) if isinstance(value, list) else 0


def _leaf_row(
    field: FieldPlan,
    pointer: str,
    sides: tuple[tuple[Any, bool], tuple[Any, bool]],
    record: Record,
    meta: Mapping[str, Mapping[str, Any]],
) -> dict:
    (gold, _), (predicted, _) = sides
    found = meta.get(pointer, {})
    spans = record.annotations.spans.get(pointer, ())
    gold_start, gold_end = spans[0] if spans else (None, None)
    start, end = found.get("span") or (None, None)
    correct, score = _correct(field, pointer, sides, record)
    return {
        "pointer": pointer,
        "field": folded(field.path),
        "mode": field.mode,
        "gold": _text(gold),
        "predicted": _text(predicted),
        "correct": correct,
        "score": score,
        "probability": _probability(field, found),
        "confidence": found.get("confidence"),
        "gold_null": gold is ABSENT or gold is None,
        "predicted_null": predicted is ABSENT or predicted is None,
        "gold_start": gold_start,
        "gold_end": gold_end,
        "start": start,
        "end": end,
        "generated_tokens": found.get("generated_tokens", 0),
        "sampled_tokens": found.get("generated_tokens", 0),
        "ms": None,
        **_outcome_detail(field, gold, found),
    }


def _correct(
    field: FieldPlan, pointer: str, sides: tuple[tuple[Any, bool], tuple[Any, bool]], record: Record
) -> tuple[bool | None, float | None]:
    """(correct, score) of a leaf; wrong where its array item exists on one side only."""
    (gold, gold_exists), (predicted, predicted_exists) = sides
    spans = record.annotations.spans.get(pointer, ())
    correct, score = _judge(field, gold, predicted, [record.context[slice(*span)] for span in spans])
    return (correct if gold_exists == predicted_exists else False), score


def _count_row(field: str, pointer: str, gold: int | None, predicted: int | None) -> dict:
    return {
        "pointer": pointer,
        "field": field,
        "mode": COUNT,
        "gold": _text(ABSENT if gold is None else gold),
        "predicted": _text(ABSENT if predicted is None else predicted),
        "correct": gold == predicted,
        "aligned": gold == predicted,
        "score": None if gold is None or predicted is None else float(abs(gold - predicted)),
        "probability": None,
        "confidence": None,
        "gold_null": gold is None,
        "predicted_null": predicted is None,
        **dict.fromkeys(("gold_start", "gold_end", "start", "end", "ms")),
        **dict.fromkeys(("generated_tokens", "sampled_tokens"), 0),
        **dict.fromkeys(("gold_probability", "brier")),
    }


def _judge(field: FieldPlan, gold: Any, predicted: Any, gold_texts: list[str]) -> tuple[bool | None, float | None]:
    """(correct, score): the score is token F1 of texts and the absolute error of levels."""
    if field.mode.startswith("decide"):
        if gold is ABSENT:
            return None, None
        error = abs(predicted - gold) if field.mode == "decide.score" and _both_numbers(gold, predicted) else None
        return _same_scalar(gold, predicted), None if error is None else float(error)
    gold_null, predicted_null = gold is ABSENT or gold is None, predicted is ABSENT or predicted is None
    if field.mode == "generate" and gold_null:
        return None, None
    if gold_null or predicted_null:
        same = gold_null and predicted_null
        return same, float(same) if field.mode in TEXT_MODES else None
    if field.mode == "extract.number":
        return _both_numbers(gold, predicted) and gold == predicted, None
    if field.mode == "extract.date":
        return gold == predicted, None
    if not isinstance(predicted, str):
        return False, 0.0
    score = max(token_f1(text, predicted) for text in (gold, *gold_texts))
    if field.mode == "generate":
        return score >= GENERATE_CORRECT_F1, score
    return any(_folded(text) == _folded(predicted) for text in (gold, *gold_texts)), score


def _folded(text: str) -> str:
    return " ".join(text.split())


def _both_numbers(*values: Any) -> bool:
    return all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)


def _same_scalar(left: Any, right: Any) -> bool:
    """JSON equality: 1 equals 1.0, true does not equal 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    return left == right and (type(left) is type(right) or _both_numbers(left, right))


def _probability(field: FieldPlan, found: Mapping[str, Any]) -> float | None:
    """Probability of the outcome that was answered; a noul's meta says that of true."""
    probability = found.get("probability")
    if probability is not None and field.mode == "decide.noul":
        return max(probability, 1 - probability)
    return probability


def _outcome_detail(field: FieldPlan, gold: Any, found: Mapping[str, Any]) -> dict[str, float | None]:
    """Probability of the gold outcome and the Brier score over all outcomes (sum of squares, 0 to 2)."""
    detail: dict[str, float | None] = dict.fromkeys(("gold_probability", "brier"))
    probabilities = found.get("probabilities")
    if field.mode == "decide.noul" and found.get("probability") is not None:
        probabilities = [found["probability"], 1 - found["probability"]]
    if not field.mode.startswith("decide") or probabilities is None or gold is ABSENT:
        return detail
    hits = [_same_scalar(gold, outcome) for outcome in field.outcomes]
    if sum(hits) != 1 or len(hits) != len(probabilities):
        return detail
    detail["gold_probability"] = probabilities[hits.index(True)]
    detail["brier"] = sum((p - hit) ** 2 for p, hit in zip(probabilities, hits, strict=True))
    return detail


def _add_costs(rows: list[dict], answer: Answer) -> None:
    """Spread the document's time over its rows, and its tokens too where no leaf owns them; sums stay exact."""
    if not rows:
        return
    for row in rows:
        row["ms"] = answer.ms / len(rows)
    if answer.per_leaf_tokens:
        return
    for name in ("generated_tokens", "sampled_tokens"):
        share, left = divmod(getattr(answer, name), len(rows))
        for position, row in enumerate(rows):
            row[name] = share + (position < left)


def _text(value: Any) -> str | None:
    return None if value is ABSENT else json.dumps(value, ensure_ascii=False, sort_keys=True)
