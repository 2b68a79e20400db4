"""Rows of a response beside the gold value."""

from __future__ import annotations

from typing import Any

import pytest

from deg_core.evaluation.compare import Answer, compare, token_f1
from deg_core.evaluation.tables import DETAIL_COLUMNS, ROW_COLUMNS

CONTEXT = "Order 12 from Miller  & Sons, total 9.00, again 9.00. Ada and Bob signed."
SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["order", "offer", None]},
        "paid": {"type": "boolean"},
        "level": {"type": "integer", "minimum": 1, "maximum": 5},
        "firm": {"type": ["string", "null"]},
        "total": {"type": ["number", "null"]},
        "due": {"type": ["string", "null"], "format": "date"},
        "summary": {"type": "string", "x-generate": True},
        "people": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
    },
    "required": ["kind", "paid", "level", "firm", "total", "due", "people"],
}
GOLD = {
    "kind": "order",
    "paid": False,
    "level": 4,
    "firm": "Miller & Sons",
    "total": 9,
    "due": None,
    "summary": "a paid order from Miller",
    "people": [{"name": "Ada"}, {"name": "Bob"}],
}


def rows_of(record: Any, value: Any, meta: dict[str, Any] | None = None, **figures: Any) -> dict[str, dict]:
    rows = compare(record, Answer(value, meta or {}, **figures), run="r", system="deg", source="s")
    assert all(set(row) == {*ROW_COLUMNS, *DETAIL_COLUMNS} for row in rows)
    return {row["pointer"]: row for row in rows}


@pytest.fixture
def gold_record(record: Any) -> Any:
    start = CONTEXT.index("Miller")
    return record(
        {
            "context": CONTEXT,
            "schema": SCHEMA,
            "value": GOLD,
            "spans": {"/firm": [start, start + 14], "/total": [36, 40], "/people/0/name": [54, 57]},
        }
    )


def test_the_gold_value_is_right_everywhere(gold_record: Any) -> None:
    rows = rows_of(gold_record, GOLD)
    assert len(rows) == 7 + 2 + 1
    assert all(row["correct"] for row in rows.values())
    assert rows["/people"]["mode"] == "count" and rows["/people"]["gold"] == "2"
    assert rows["/people/1/name"]["field"] == "/people/*/name"
    assert (rows["/total"]["gold_start"], rows["/total"]["gold_end"]) == (36, 40)


def test_each_mode_has_its_own_equality(gold_record: Any) -> None:
    answer = GOLD | {"paid": True, "level": 2, "firm": "Miller  & Sons", "total": 9.0, "due": "2024-01-01"}
    rows = rows_of(gold_record, answer | {"kind": None, "summary": "an order from Miller"})
    assert rows["/kind"]["correct"] is False and rows["/kind"]["predicted_null"]
    assert rows["/paid"]["correct"] is False
    assert rows["/level"]["correct"] is False and rows["/level"]["score"] == 2.0
    assert rows["/firm"]["correct"] is True
    assert rows["/total"]["correct"] is True
    assert rows["/due"]["correct"] is False and rows["/due"]["gold_null"]
    assert rows["/summary"]["correct"] is True and rows["/summary"]["score"] == pytest.approx(2 * 3 / 9)


def test_true_is_not_one(record: Any) -> None:
    schema = {"type": "object", "properties": {"k": {"enum": [1, 0, True, False]}}, "required": ["k"]}
    case = record({"context": "x", "schema": schema, "value": {"k": 1}})
    assert rows_of(case, {"k": True})["/k"]["correct"] is False
    assert rows_of(case, {"k": 1.0})["/k"]["correct"] is True


def test_text_of_the_gold_span_counts_as_well_as_the_gold_value(record: Any) -> None:
    schema = {"type": "object", "properties": {"firm": {"type": "string"}}, "required": ["firm"]}
    case = record(
        {
            "context": "BOOK TA .K(DAYA) paid",
            "schema": schema,
            "value": {"firm": "BOOK TA .K (DAYA)"},
            "spans": {"/firm": [0, 16]},
        }
    )
    assert rows_of(case, {"firm": "BOOK TA .K(DAYA)"})["/firm"]["correct"] is True
    assert rows_of(case, {"firm": "BOOK"})["/firm"]["correct"] is False


def test_items_on_one_side_only_are_wrong(gold_record: Any) -> None:
    fewer = rows_of(gold_record, GOLD | {"people": [{"name": "Ada"}]})
    assert fewer["/people"]["correct"] is False and fewer["/people"]["score"] == 1.0
    assert fewer["/people/1/name"]["correct"] is False and fewer["/people/1/name"]["predicted"] is None
    more = rows_of(gold_record, GOLD | {"people": [*GOLD["people"], {}]})
    assert more["/people/2/name"]["correct"] is False and more["/people/2/name"]["gold"] is None


def test_a_missed_item_makes_the_others_wrong_only_by_place(gold_record: Any) -> None:
    rows = rows_of(gold_record, GOLD | {"people": [{"name": "Bob"}]})
    first, second = rows["/people/0/name"], rows["/people/1/name"]
    assert (first["correct"], second["correct"]) == (False, False)
    assert (first["aligned"], second["aligned"]) == (False, True)
    assert all(row["aligned"] is row["correct"] for pointer, row in rows.items() if "/people/" not in pointer)
    turned = rows_of(gold_record, GOLD | {"people": [{"name": "Bob"}, {"name": "Eve"}, {"name": "Ada"}]})
    assert [turned[f"/people/{n}/name"]["aligned"] for n in range(3)] == [True, True, False]


def test_no_answer_is_wrong_everywhere_even_where_null_is_gold(gold_record: Any) -> None:
    rows = rows_of(gold_record, None)
    assert rows["/due"]["correct"] is False and not rows["/due"]["predicted_null"]
    assert not any(row["correct"] for row in rows.values())


def test_an_unjudged_generated_field_is_neither_right_nor_wrong(record: Any) -> None:
    gold = {key: value for key, value in GOLD.items() if key != "summary"}
    case = record({"context": CONTEXT, "schema": SCHEMA, "value": gold})
    row = rows_of(case, GOLD)["/summary"]
    assert row["correct"] is None and row["score"] is None


def test_probabilities_are_those_of_the_answer(gold_record: Any) -> None:
    meta = {
        "/kind": {"mode": "decide.choice", "probability": 0.7, "confidence": 0.5, "probabilities": [0.2, 0.7, 0.1]},
        "/paid": {"mode": "decide.noul", "probability": 0.1},
        "/firm": {"mode": "extract.span", "confidence": 0.6, "span": [14, 28]},
        "/summary": {"mode": "generate", "generated_tokens": 11},
    }
    rows = rows_of(gold_record, GOLD | {"kind": "offer"}, meta, ms=100.0, generated_tokens=11, per_leaf_tokens=True)
    assert rows["/kind"]["probability"] == 0.7 and rows["/kind"]["gold_probability"] == 0.2
    assert rows["/kind"]["brier"] == pytest.approx(0.8**2 + 0.7**2 + 0.1**2)
    assert rows["/paid"]["probability"] == pytest.approx(0.9) and rows["/paid"]["gold_probability"] == pytest.approx(
        0.9
    )
    assert (rows["/firm"]["start"], rows["/firm"]["end"], rows["/firm"]["confidence"]) == (14, 28, 0.6)
    assert rows["/summary"]["generated_tokens"] == 11
    assert sum(row["generated_tokens"] for row in rows.values()) == 11
    assert sum(row["ms"] for row in rows.values()) == pytest.approx(100)


def test_a_baselines_tokens_are_spread_without_loss(gold_record: Any) -> None:
    rows = rows_of(gold_record, GOLD, generated_tokens=57, sampled_tokens=23, ms=10.0)
    assert sum(row["generated_tokens"] for row in rows.values()) == 57
    assert sum(row["sampled_tokens"] for row in rows.values()) == 23
    assert all(row["probability"] is None for row in rows.values())


def test_wrong_shapes_are_wrong_not_errors(gold_record: Any) -> None:
    odd = {
        "kind": [],
        "paid": "no",
        "level": "4",
        "firm": 3,
        "total": "9",
        "due": 1,
        "summary": {},
        "people": {"name": 1},
    }
    rows = rows_of(gold_record, odd)
    assert not any(row["correct"] for row in rows.values())
    assert rows["/people"]["predicted"] == "0"


def test_token_f1() -> None:
    assert token_f1("The cat sat", "the CAT ran") == pytest.approx(2 / 3)
    assert token_f1("a a b", "a") == pytest.approx(0.5)
    assert token_f1("!", "?") == 1.0
    assert token_f1("a", "") == 0.0
