import datetime as dt
import json

import pytest

from deg_core.artifacts import Home, build_artifact
from deg_core.bulk.job import Shard
from deg_core.bulk.writer import PartWriter, Row, part_path
from deg_core.contract import compile_schema
from deg_core.contract.errors import InputError
from deg_core.results.views import connect

VIEWS = {
    "eval_rows": "eval created run system source uid pointer field mode gold predicted correct score probability "
    "confidence gold_null predicted_null gold_start gold_end start end generated_tokens sampled_tokens ms",
    "eval_documents": "eval created run system source",
    "fills": "fill created doc_id value_json meta error prompt_tokens generated_tokens ms model plan",
    "fill_latest": "fill created doc_id value_json meta error prompt_tokens generated_tokens ms model plan value",
    "fill_cells": "fill created doc_id pointer field mode value probability confidence start end null_reason",
    "train_log": "run step loss",
    "memory": "source id",
    "promotions": "id logged_at event checkpoint content author decision",
    "quarantine": "pool line offset uid reason",
    "artifacts": "kind id created seconds counts figures settings inputs code_version path",
}


def add_fill(home, name, schema, responses):
    """A finished fill of one part a response (None: a document that failed)."""
    plan = compile_schema(schema)

    def build(folder, manifest):
        writer = PartWriter(folder, manifest.key, plan)
        for index, response in enumerate(responses):
            row = Row(f"d{index}", response, None if response else "empty document", 1.0)
            writer.write(Shard(index, index, index + 1, 0), [row])
        return [part_path(folder, index) for index in range(len(responses))]

    return build_artifact(home, "fills", kind="fill", name=name, code_version="1", settings={}, inputs={}, build=build)


def response(value, meta):
    return {
        "model": "m",
        "value": value,
        "meta": meta,
        "usage": {"prompt_tokens": 3, "generated_tokens": 0},
        "plan": "p",
    }


def columns(db, view):
    return [row[0] for row in db.execute(f"DESCRIBE {view}").fetchall()]


def test_an_empty_home_has_empty_views(home):
    db = connect(home)
    for view, names in VIEWS.items():
        assert columns(db, view)[: len(names.split())] == names.split()
        assert db.execute(f"SELECT * FROM {view}").fetchall() == []
    assert not home.root.exists()


def test_fills_of_different_schemas(home):
    number = {
        "type": "object",
        "properties": {"total": {"type": "number"}, "due": {"type": "string", "format": "date"}},
    }
    names = {
        "type": "object",
        "properties": {
            "people": {"type": "array", "items": {"type": "object", "properties": {"n~/": {"type": "string"}}}}
        },
    }
    first = add_fill(
        home,
        "b",
        number,
        [
            response(
                {"total": 2.5, "due": "2026-03-01"},
                {"/total": {"mode": "extract.number", "confidence": 0.5, "span": [1, 4]}},
            ),
            None,
        ],
    )
    people = response(
        {"people": [{"n~/": "Ann"}, {"n~/": "Bob"}]},
        {
            "/people/1/n~0~1": {"mode": "extract.span", "confidence": 0.25, "span": [7, 10]},
            "/flag": {"mode": "decide.noul", "probability": 0.1},
        },
    )
    second = add_fill(home, "a", names, [people])
    db = connect(home)
    assert db.execute("SELECT fill, doc_id, error FROM fills ORDER BY ALL").fetchall() == [
        (second.id, "d0", None),
        (first.id, "d0", None),
        (first.id, "d1", "empty document"),
    ]
    view = "fill_" + first.id.replace("-", "_")
    assert db.execute(f'SELECT sum(value.total), max(value.due) + 1 FROM "{view}"').fetchall() == [
        (2.5, dt.date(2026, 3, 2))
    ]
    assert db.execute("SELECT value.people[1]['n~/'] FROM fill_latest").fetchall() == [("Ann",)]
    cells = db.execute(
        'SELECT doc_id, field, value, probability, confidence, "start", "end" FROM fill_cells ORDER BY pointer'
    )
    assert cells.fetchall() == [
        ("d0", "/flag", None, 0.9, None, None, None),
        ("d0", "/people/*/n~0~1", "Bob", None, 0.25, 7, 10),
        ("d0", "/total", "2.5", None, 0.5, 1, 4),
    ]


def test_unfinished_artifacts_are_not_seen(home, add_eval):
    manifest = add_eval("one", [{}])
    (manifest.path / "rows.parquet").write_bytes(b"cut")
    assert connect(home).execute("SELECT count(*) FROM eval_rows").fetchall() == [(0,)]
    (manifest.path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="is not a manifest"):
        connect(home)


def test_evaluations_and_artifacts(home, add_eval):
    add_eval("new", [{"correct": False}], created="2026-02-02T02:00:00+00:00")
    old = add_eval("old", [{}, {"uid": "v"}], created="2026-01-01T02:00:00+00:00")
    db = connect(home)
    assert db.execute("SELECT run, count(*), min(created) FROM eval_rows GROUP BY ALL ORDER BY run").fetchall() == [
        ("new", 1, dt.datetime(2026, 2, 2, 2)),
        ("old", 2, dt.datetime(2026, 1, 1, 2)),
    ]
    found = db.execute("SELECT id, figures->>'decide_accuracy' FROM artifacts ORDER BY created").fetchall()
    assert found[0] == (old.id, "0.5") and len(found) == 2


def test_logs_grow_and_differ(home):
    def write(path, *lines):
        file = home.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(lines))

    def line(**entry):
        return json.dumps(entry) + "\n"

    write("runs/r-1/log.jsonl", line(step=1, loss=2.5, losses={"decide": 1.0}), line(step=2, loss=2), '{"step": 3, "lo')
    write("runs/r-2/log.jsonl", line(step=1, loss=float("nan"), lr=0.1))
    write("runs/r-3/log.jsonl")
    write("runs/r-1/mem.jsonl", line(peak_bytes=10, features={"rows": 2}))
    write("memory/m-1/fit.jsonl", line(peak_bytes=20, estimate_bytes=25))
    write(
        "models/promotions.jsonl",
        line(id="p", at="2026-01-01T00:00:00+00:00", event="promote", by="gate", checkpoint="c", decision={"x": 1}),
    )
    write("pools/own-1/quarantine.jsonl", line(line=7, uid="u", reason="no 'context'"))
    db = connect(home)
    assert db.execute("SELECT run, step, lr FROM train_log ORDER BY ALL").fetchall() == [
        ("r-1", 1, None),
        ("r-1", 2, None),
        ("r-2", 1, 0.1),
    ]
    assert db.execute("SELECT sum(loss) FROM train_log WHERE run = 'r-1'").fetchall() == [(4.5,)]
    memory = db.execute("SELECT source, id, peak_bytes, estimate_bytes FROM memory ORDER BY ALL").fetchall()
    assert memory == [("memory", "m-1", 20, 25), ("runs", "r-1", 10, None)]
    assert db.execute("SELECT event, year(logged_at), decision->>'x' FROM promotions").fetchall() == [
        ("promote", 2026, "1")
    ]
    assert db.execute("SELECT pool, line, uid, reason FROM quarantine").fetchall() == [
        ("own-1", 7, "u", "no 'context'")
    ]


def test_a_home_whose_path_has_a_quote(tmp_path):
    home = Home(tmp_path / "it's")
    add_fill(home, "x", {"type": "object", "properties": {"s": {"type": "string"}}}, [response({"s": "v"}, {})])
    assert connect(home).execute("SELECT value.s FROM fill_latest").fetchall() == [("v",)]
