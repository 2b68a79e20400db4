from __future__ import annotations

import json

import pytest

from deg_core.contract.pointer import escape
from deg_core.pools.records import DecisionRecord, Record, Reject, read_records

from .conftest import SCHEMA, make_record, to_lines

GOOD = make_record(1)
LENGTH = len(GOOD["context"])


def only(path):
    (line,) = read_records(path)
    return line


def test_a_good_record(write):
    record = only(write(to_lines([GOOD])))
    assert isinstance(record, Record)
    assert record.lengths == {"/items": 2}
    assert list(record.leaves)[4:6] == ["/items/0/name", "/items/1/name"]
    assert record.annotations.spans["/customer"] == (tuple(GOOD["spans"]["/customer"]),)
    assert record.doc_id == record.uid == "case/1"


def changed(**changes):
    return to_lines([make_record(1, **changes)])


def spans(**found):
    return changed(spans={f"/{key}": value for key, value in found.items()})


BAD = {
    "broken JSON": (b'{"uid": "x", \n', "not JSON"),
    "JSON that is no object": (b"[1, 2]\n", "a record is a JSON object, not an array"),
    "NaN": (b'{"uid": NaN}\n', "NaN is not JSON"),
    "deep nesting": (b"[" * 200000 + b"\n", "not JSON"),
    "a long integer": (b'{"uid": ' + b"9" * 5000 + b"}\n", "not JSON"),
    "latin-1": ('{"uid": "caf\xe9"}\n'.encode("latin-1"), "not UTF-8 at byte 12 of the file"),
    "binary": (bytes(range(256)).replace(b"\n", b"") + b"\n", "not UTF-8"),
    "half a surrogate pair": (changed(context="\ud83d and more"), "surrogate"),
    "missing keys": (to_lines([{"uid": "x", "context": "c"}]), "/split: the key is missing; /schema: the key"),
    "an empty uid": (changed(uid=""), "/uid: must be a string"),
    "a uid that is a number": (changed(uid=5), "/uid: must be a string"),
    "an unknown split": (changed(split="dev"), "/split: 'dev' is none of train, val, test"),
    "an empty context": (changed(context=" \n "), "/context: the context is empty"),
    "a context that is a number": (changed(context=3), "/context: "),
    "a schema that is no object": (changed(schema=[1]), "/schema: a schema is a JSON object"),
    "a schema with two problems": (
        changed(schema={"type": "object", "properties": {"a": {"const": 1}, "b": {"type": "string", "x-foo": 1}}}),
        "/schema/properties/a",
    ),
    "a value refused by its schema": (changed(value=GOOD["value"] | {"department": "legal"}), "/value/department: "),
    "a value that is no object": (changed(value=[]), "/value(root): "),
    "spans that are a list": (changed(spans=[[0, 1]]), "/spans: must be an object"),
    "a span after the end": (spans(customer=[40, 900]), f"[40, 900) ends after the context ({LENGTH} code points)"),
    "an empty span": (spans(customer=[4, 4]), "[4, 4) is empty"),
    "a negative span": (spans(customer=[-1, 4]), "[-1, 4) is empty or starts before"),
    "a span of three": (spans(customer=[1, 2, 3]), "two integers"),
    "a span of truths": (spans(customer=[False, True]), "two integers"),
    "a span of an unknown field": (spans(custmer=[1, 2]), "/spans/~1custmer: is no field of the value"),
    "alternatives that are empty": (changed(span_alternatives={"/customer": []}), "must be a list of at least one"),
    "a bad alternative": (changed(span_alternatives={"/customer": [[1, 2], [5, 900]]}), "[5, 900) ends after"),
    "negative weights": (
        changed(span_alternatives={"/customer": [[1, 2]]}, span_probs={"/customer": [-1]}),
        "/span_probs/~1customer: must be a list of numbers",
    ),
    "probabilities of another length": (changed(decide_probs={"/department": [1.0]}), "a list of 3 probabilities"),
    "probabilities that do not sum": (changed(decide_probs={"/department": [0.5, 0.1, 0.1]}), "sums to 0.7"),
    "probabilities of an extract field": (changed(decide_probs={"/customer": [1]}), "is no decide field"),
    "a verdict that is a number": (changed(judge={"/summary": 2}), "/judge/~1summary: a verdict is an object"),
    "media": (changed(grounds={}), "/grounds: media records"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_says_where_and_why(write, name):
    data, reason = BAD[name]
    reject, record = read_records(write(data + to_lines([make_record(2)])))
    assert isinstance(reject, Reject) and isinstance(record, Record)
    assert (reject.line, reject.offset) == (1, 0)
    assert reason.replace("(root)", "") in reject.reason.replace("(root)", "")
    assert str(reject).startswith("line 1: ")
    assert record.offset == len(data) and record.line == 2


def test_the_reason_of_a_span_is_located(write):
    reject = only(write(spans(customer=[40, 900])))
    assert reject.reason == f"/spans/~1customer: [40, 900) ends after the context ({LENGTH} code points)"
    assert escape("/customer") == "~1customer"


def test_every_problem_of_a_record_is_listed(write):
    reject = only(write(changed(split="x", context="", value={})))
    for loc in ("/split", "/context", "/value"):
        assert f"{loc}: " in reject.reason


def test_a_null_value_has_no_place(write):
    reject = only(write(changed(value=GOOD["value"] | {"customer": None})))
    assert "value is null or absent" in reject.reason


def test_a_uid_is_there_once(write):
    lines = list(read_records(write(to_lines([GOOD, make_record(2), GOOD]))))
    assert [type(line) for line in lines] == [Record, Record, Reject]
    assert lines[2].reason == "/uid: 'case/1' is the uid of an earlier record"


def test_a_refused_record_does_not_take_its_uid(write):
    lines = list(read_records(write(changed(split="x") + to_lines([GOOD]))))
    assert [type(line) for line in lines] == [Reject, Record]


def test_an_empty_file_and_a_mark_at_the_start(write):
    assert list(read_records(write(b""))) == []
    assert isinstance(only(write(b"\xef\xbb\xbf" + to_lines([GOOD]))), Record)


def test_a_long_context(write):
    record = only(write(changed(context=GOOD["context"] + "long " * 400_000)))
    assert len(record.context) == LENGTH + 2_000_000


def test_weights_of_another_length_are_dropped(write):
    alternatives = {"/customer": [[0, 4], [8, 17]]}
    short = only(write(changed(span_alternatives=alternatives, span_probs={"/customer": [1.0]})))
    assert not short.annotations.span_weights
    assert short.annotations.spans["/customer"][0] == tuple(GOOD["spans"]["/customer"])
    whole = only(write(changed(span_alternatives=alternatives, span_probs={"/customer": [1, 3]})))
    assert whole.annotations.span_weights["/customer"] == (0.25, 0.75)
    assert whole.annotations.spans["/customer"] == ((0, 4), (8, 17))


@pytest.mark.parametrize(
    ("judge", "keeps"),
    [
        (None, True),
        ({}, False),
        ({"/notes": {"faithful": 2, "responsive": 2}}, True),
        ({"/notes": {"faithful": 2, "responsive": 2, "kept": False}}, False),
        ({"/notes": {"faithful": 1, "responsive": 2, "kept": True}}, False),
        ({"/notes": {"faithful": 2, "responsive": 2}, "/notes/0": {"faithful": 0, "responsive": 2}}, False),
    ],
)
def test_an_item_takes_the_verdict_of_its_array(write, judge, keeps):
    schema = {
        "type": "object",
        "properties": {"notes": {"type": "array", "items": {"type": "string"}, "x-generate": True}},
    }
    record = only(write(changed(schema=schema, value={"notes": ["a"]}, spans={}, judge=judge)))
    assert record.annotations.keeps("/notes/0") is keeps


def test_json_contexts_are_rendered(write):
    record = only(
        write(changed(context={"from": "Ada Byron", "n": 1}, value=GOOD["value"], spans={"/customer": [10, 19]}))
    )
    assert record.context == '{"from": "Ada Byron", "n": 1}'
    assert record.context[10:19] == "Ada Byron"


def decisions(*questions, **keys):
    return to_lines([{"uid": "d", "state": "it rains", "questions": list(questions)} | keys])


NOUL = {"type": "noul", "instructions": "Is it wet?", "criteria": {"true": "rain", "false": "sun"}}
CHOICE = {"type": "choice", "instructions": "Weather", "criteria": {"rain": "water falls", "sun": None}}
SCORE = {"type": "score", "instructions": "How wet?", "criteria": ["dry", "damp", "wet"]}


def test_questions_become_fields(write):
    record = only(
        write(
            decisions(
                NOUL | {"label": {"probs": [0.9, 0.1]}},
                CHOICE | {"label": {"hard": 1}},
                SCORE | {"label": {"probs": [0.25, 0.25, 0.5], "hard": 0}},
            )
        )
    )
    assert isinstance(record, DecisionRecord) and record.split == "train" and record.skipped == 0
    noul, choice, score = record.questions
    assert noul.target == pytest.approx((0.9, 0.1)) and choice.target == (0, 1) and score.target == (0.25, 0.25, 0.5)
    assert noul.plan.fields[0].description == "Is it wet?\nYes means: rain\nNo means: sun"
    assert choice.plan.fields[0].options == ("rain", "sun")
    assert choice.plan.fields[0].option_descriptions == ("water falls", None)
    assert score.plan.fields[0].level_labels == ("dry", "damp", "wet")


def test_questions_that_cannot_train_are_skipped(write):
    record = only(
        write(
            decisions(
                NOUL,
                NOUL | {"label": {"probs": [1.0]}},
                CHOICE | {"label": {"hard": 7}},
                SCORE | {"criteria": ["dry"], "label": {"hard": 0}},
                CHOICE | {"label": {"hard": 0}},
            )
        )
    )
    assert len(record.questions) == 1 and record.skipped == 4


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (decisions(NOUL), "no question has a label"),
        (decisions({"type": "noul"}), "/questions/0: instructions must be a string"),
        (decisions({"type": "rank", "instructions": ""}), "/questions/0: a question is an object"),
        (decisions(SCORE | {"criteria": {"a": "b"}}), "/questions/0: criteria of a score"),
        (decisions(CHOICE | {"label": {"hard": 0}}, state=""), "/state: the context is empty"),
        (to_lines([{"uid": "d", "questions": []}]), "/state: the key is missing"),
        (decisions(CHOICE | {"label": {"hard": 0}}, questions="none"), "/questions: must be a list"),
    ],
)
def test_bad_decision_records(write, data, reason):
    assert reason in only(write(data)).reason


def test_schemas_differ_by_the_order_of_their_fields(write):
    other = SCHEMA | {"properties": dict(reversed(SCHEMA["properties"].items()))}
    first, second = read_records(write(to_lines([GOOD, make_record(2, schema=other)])))
    assert list(first.leaves)[0] == "/department" and list(second.leaves)[0] == "/summary"
    assert json.dumps(first.plan.schema) != json.dumps(second.plan.schema)
