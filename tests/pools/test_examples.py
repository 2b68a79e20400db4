from __future__ import annotations

import json

import numpy as np
import pytest

from deg_core.contract.walk import known_of
from deg_core.model.queries import QueryLayout
from deg_core.pools.examples import BY_NUMBER, build_example
from deg_core.pools.lines import RawLine
from deg_core.pools.records import Reject, parse_line
from deg_core.pools.schemas import Schemas

from .conftest import make_record, place


def build(record: dict, tokens, layout=BY_NUMBER):
    data = json.dumps(record).encode()
    parsed = parse_line(RawLine(1, 0, len(data), data, True), Schemas())
    assert not isinstance(parsed, Reject), parsed
    example, left_out = build_example(parsed, tokens, layout)
    return example, dict(left_out), parsed


def forks_of(example, field):
    return [fork for fork in example.forks if fork.field == field]


def text_of(tokens, ids):
    return tokens._tokenizer.decode(list(map(int, ids)), skip_special_tokens=False)


def with_value(schema, value, context="Order 12 of 3 May 2026: 12 lamps, 40 EUR.", **keys):
    return {"uid": "u", "split": "train", "context": context, "schema": schema, "value": value} | keys


def single(schema, **keys):
    return {"type": "object", "properties": {"a": schema}, **keys}


def test_every_leaf_and_array_is_asked(tokens):
    example, left_out, _ = build(make_record(1), tokens)
    assert [(fork.kind, fork.field) for fork in example.forks] == [
        ("count", "/items"),
        ("choice", "/department"),
        ("noul", "/urgent"),
        ("score", "/anger"),
        ("extract", "/customer"),
        ("extract", "/items/*/name"),
        ("extract", "/items/*/name"),
        ("generate", "/summary"),
    ]
    assert left_out == {}
    assert (example.uid, example.split, example.doc_id) == ("case/1", "train", "case/1")
    assert text_of(tokens, example.context) == make_record(1)["context"]
    assert example.tokens == len(example.context) + sum(len(fork.ids) for fork in example.forks)


def test_item_queries_name_their_item(tokens):
    example, _, _ = build(make_record(1), tokens)
    first, second = forks_of(example, "/items/*/name")
    assert text_of(tokens, first.ids).startswith("FIELD /items/0/name\nITEM 0 of /items\n")
    assert text_of(tokens, second.ids).startswith("FIELD /items/1/name\nITEM 1 of /items\n")


BY_PLACE = QueryLayout("anchor")


def test_items_are_named_by_their_text_in_anchor_mode(tokens):
    example, left_out, _ = build(make_record(1), tokens, BY_PLACE)
    assert left_out == {}
    count = forks_of(example, "/items")[0]
    assert count.by_place and len(count.spans) == 2 and np.flatnonzero(count.target).tolist() == [2]
    assert count.spans[0, 1] == count.spans[1, 0] and count.spans[1, 1] == len(example.context)
    names = forks_of(example, "/items/*/name")
    for fork, (anchor, end), start in zip(names, count.spans, ("red lamp and a", "blue chair. She"), strict=True):
        assert fork.by_place and (fork.anchor, fork.region_end) == (anchor, end)
        assert text_of(tokens, fork.ids).startswith(f'FIELD /items/*/name\nITEM /items AT: "{start}')
    rest = [fork for fork in example.forks if not fork.field.startswith("/items")]
    plain = [fork for fork in build(make_record(1), tokens)[0].forks if not fork.field.startswith("/items")]
    assert not any(fork.by_place for fork in rest)
    assert [fork.ids.tolist() for fork in rest] == [fork.ids.tolist() for fork in plain]


def test_short_documents_can_be_left_to_numbers(tokens):
    plain, _, _ = build(make_record(1), tokens)
    for least, by_place in ((len(plain.context), True), (len(plain.context) + 1, False)):
        example, _, _ = build(make_record(1), tokens, QueryLayout("anchor", least))
        assert {fork.by_place for fork in forks_of(example, "/items/*/name")} == {by_place}


def test_an_anchored_array_with_an_unplaced_item_is_left_out_whole(tokens):
    spans = {k: v for k, v in make_record(1)["spans"].items() if k != "/items/1/name"}
    example, left_out, _ = build(make_record(1, spans=spans), tokens, BY_PLACE)
    assert not any(fork.field.startswith("/items") for fork in example.forks)
    assert left_out == {"no_place": 3}


def test_an_empty_anchored_array_trains_without_a_place(tokens):
    record = make_record(1)
    value = record["value"] | {"items": []}
    spans = {"/customer": record["spans"]["/customer"]}
    count = forks_of(build(record | {"value": value, "spans": spans}, tokens, BY_PLACE)[0], "/items")[0]
    assert count.by_place and count.spans.shape == (0, 2) and count.target[0] == 1


def test_more_items_than_can_be_counted_are_all_trained_in_anchor_mode(tokens):
    words = [f"w{number}x" for number in range(70)]
    context = " ".join(words)
    schema = single({"type": "array", "items": {"type": "string"}})
    spans = {f"/a/{number}": place(context, word) for number, word in enumerate(words)}
    example, left_out, _ = build(with_value(schema, {"a": words}, context, spans=spans), tokens, BY_PLACE)
    assert len(example.forks) == 71 and left_out == {}
    assert np.flatnonzero(example.forks[0].target).tolist() == [64] and len(example.forks[0].spans) == 70


def test_decided_arrays_keep_their_numbers_in_anchor_mode(tokens):
    schema = single({"type": "array", "items": {"type": "boolean"}})
    example, _, _ = build(with_value(schema, {"a": [True, False]}), tokens, BY_PLACE)
    assert not any(fork.by_place for fork in example.forks)
    assert text_of(tokens, example.forks[2].ids).startswith("FIELD /a/1\nITEM 1 of /a\n")


def test_decide_targets(tokens):
    example, _, _ = build(make_record(3, decide_probs={"/department": [0.2, 0.5, 0.3]}), tokens)
    assert forks_of(example, "/department")[0].target == pytest.approx([0.2, 0.5, 0.3])
    assert forks_of(example, "/urgent")[0].target.tolist() == [0, 1]
    assert forks_of(example, "/anger")[0].target.tolist() == [0, 0, 0, 0, 1]
    true, _, _ = build(make_record(2), tokens)
    assert forks_of(true, "/urgent")[0].target.tolist() == [1, 0]
    assert forks_of(true, "/anger")[0].target.tolist() == [0, 1, 0, 0, 0]


def test_true_is_not_one(tokens):
    schema = single({"enum": [1, True, None]})
    targets = [build(with_value(schema, {"a": value}), tokens)[0].forks[0].target.tolist() for value in (1, True, None)]
    assert targets == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_a_decide_field_without_a_value_is_left_out(tokens):
    example, left_out, _ = build(with_value(single({"enum": ["x", "y", None]}), {}), tokens)
    assert example.forks == [] and left_out == {"no_gold": 1}


def test_options_point_at_their_lines(tokens):
    fork = forks_of(build(make_record(1), tokens)[0], "/department")[0]
    start = fork.options_start
    lines = []
    for end in fork.options:
        lines.append(text_of(tokens, fork.ids[start : end + 1]))
        start = end + 1
    assert lines == ["- billing\n", "- shipping\n", "- sales\n"]
    assert text_of(tokens, fork.ids[start:]) == "ANSWER:"


def test_spans_cover_their_text(tokens):
    example, _, parsed = build(make_record(1), tokens)
    for fork, text in zip(
        [*forks_of(example, "/customer"), *forks_of(example, "/items/*/name")],
        ["Ada Byron", "red lamp", "blue chair"],
        strict=True,
    ):
        ((first, end),) = fork.spans
        assert text_of(tokens, example.context[first:end]).strip() == text
        assert text in parsed.context


def test_alternatives_and_weights(tokens):
    context = "Ada Byron, or Ada B., signed."
    record = make_record(
        1,
        context=context,
        spans={"/customer": place(context, "Ada Byron")},
        span_alternatives={"/customer": [place(context, "Ada Byron"), place(context, "Ada B.")]},
        value=make_record(1)["value"] | {"items": []},
    )
    fork = forks_of(build(record, tokens)[0], "/customer")[0]
    assert len(fork.spans) == 2 and len(fork.span_weights) == 0
    soft = forks_of(build(record | {"span_probs": {"/customer": [3, 1]}}, tokens)[0], "/customer")[0]
    assert soft.span_weights == pytest.approx([0.75, 0.25]) and np.array_equal(soft.spans, fork.spans)


def test_absent_is_null_and_unplaced_is_not_trained(tokens):
    value = make_record(1)["value"] | {"customer": None}
    spans = {k: v for k, v in make_record(1)["spans"].items() if k != "/customer"}
    fork = forks_of(build(make_record(1, value=value, spans=spans), tokens)[0], "/customer")[0]
    assert fork.spans.shape == (0, 2)
    example, left_out, _ = build(make_record(1, value=value | {"customer": "Charles"}, spans=spans), tokens)
    assert forks_of(example, "/customer") == [] and left_out == {"no_span": 1}


@pytest.mark.parametrize(
    ("context", "found"),
    [
        ("by Ada Byron.", ["Ada Byron"]),
        ("by Ada\n  Byron.", ["Ada\n  Byron"]),
        ("Ada Byron and Ada Byron", []),
        ("Ada Byrons and XAda Byron", []),
        ("Ada Byrons, Ada Byron", ["Ada Byron"]),
    ],
)
def test_a_plain_string_is_found_where_it_is_printed_once(tokens, context, found):
    record = with_value(single({"type": "string"}), {"a": "Ada Byron"}, context)
    example, left_out, _ = build(record, tokens)
    texts = [text_of(tokens, example.context[a:b]).strip(" ,.") for fork in example.forks for a, b in fork.spans]
    assert texts == found and left_out == ({} if found else {"no_span": 1})


@pytest.mark.parametrize(
    ("schema", "value", "texts"),
    [
        ({"type": "integer"}, 12, ["12", "12"]),
        ({"type": "number"}, 40, ["40"]),
        ({"type": "string", "format": "date"}, "2026-05-03", ["3 May 2026"]),
        ({"type": "number"}, 41, []),
    ],
)
def test_typed_values_are_found_by_their_grammar(tokens, schema, value, texts):
    example, left_out, parsed = build(with_value(single(schema), {"a": value}), tokens)
    spans = [text_of(tokens, example.context[a:b]) for fork in example.forks for a, b in fork.spans]
    assert len(spans) == len(texts) and all(text in span for text, span in zip(texts, spans, strict=True))
    assert left_out == ({} if texts else {"no_span": 1})


def test_an_ambiguous_date_is_read_as_the_gold_value_says(tokens):
    schema = single({"type": "string", "format": "date"})
    context = "Due 03/05/2026, not 05/03/2026."
    example, _, _ = build(with_value(schema, {"a": "2026-05-03"}, context), tokens)
    assert len(example.forks[0].spans) == 2


def test_other_occurrences_of_a_repeated_value_are_right_too(tokens):
    schema = single({"type": "integer"})
    context = "Order 12 of 3 May 2026: 12 lamps, 40 EUR."
    record = with_value(schema, {"a": 12}, spans={"/a": place(context, "12")})
    assert len(build(record, tokens)[0].forks[0].spans) == 1
    assert len(build(record | {"span_counts": {"/a": 2}}, tokens)[0].forks[0].spans) == 2


def test_counts(tokens):
    array = {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3}
    example, _, _ = build(with_value(single(array), {"a": [True, False]}), tokens)
    count = example.forks[0]
    assert count.bounds == (1, 3) and np.flatnonzero(count.target).tolist() == [2] and len(count.target) == 65
    absent, left_out, _ = build(with_value(single(array), {}), tokens)
    assert absent.forks == [] and left_out == {"count_out_of_bounds": 1}


def test_items_that_cannot_be_counted_are_left_out(tokens):
    array = {"type": "array", "items": {"type": "boolean"}}
    example, left_out, _ = build(with_value(single(array), {"a": [True] * 70}), tokens)
    assert len(example.forks) == 64 and left_out == {"count_out_of_bounds": 1, "beyond_count": 6}


def test_generated_text_follows_what_is_known(tokens):
    example, _, parsed = build(make_record(1), tokens)
    fork = forks_of(example, "/summary")[0]
    prompt, target = text_of(tokens, fork.ids[: fork.lm_start]), fork.ids[fork.lm_start :]
    assert prompt.startswith("KNOWN VALUES:\n/department = ")
    assert prompt.endswith("WRITE /summary\nVALUE:")
    assert all(f"{pointer} = " in prompt for pointer, _ in known_of(parsed.plan, parsed.value))
    assert "/summary = " not in prompt
    assert target[-1] == tokens.end_id
    assert text_of(tokens, target[:-1]) == "Ada asks about a lamp and a chair."


def test_text_that_the_judge_refused_is_left_out(tokens):
    example, left_out, _ = build(make_record(1, judge={"/summary": {"faithful": 1, "responsive": 2}}), tokens)
    assert forks_of(example, "/summary") == [] and left_out == {"judged_out": 1}


def test_special_tokens_in_a_context_are_text(tokens):
    example, _, _ = build(make_record(1, context="<|im_end|> Ada Byron", spans={}), tokens)
    assert tokens.end_id not in example.context


def test_decision_records(tokens):
    question = {"type": "score", "instructions": "How wet?", "criteria": ["dry", "wet"], "label": {"hard": 1}}
    example, left_out, _ = build(
        {"uid": "d", "state": "rain", "questions": [question, question | {"label": {}}]}, tokens
    )
    (fork,) = example.forks
    assert (fork.kind, fork.field, fork.target.tolist()) == ("score", "/answer", [0, 1])
    assert "- 0: dry\n- 1: wet\n" in text_of(tokens, fork.ids)
    assert left_out == {"no_label": 1}
