import datetime as dt
import json

import duckdb
import pyarrow as pa

from deg_core.bulk.job import Shard
from deg_core.bulk.typed import META_TYPE, ValueColumn, meta_column
from deg_core.bulk.writer import PartWriter, Row, part_path, read_summary
from deg_core.contract import compile_schema

SCHEMA = {
    "type": "object",
    "properties": {
        "kind": {"enum": ["a", "b", None]},
        "level": {"enum": [1, 2, 3]},
        "share": {"enum": [0.5, 1]},
        "flag": {"type": ["boolean", "null"]},
        "mixed": {"enum": ["1", 1, True]},
        "urgent": {"type": "boolean"},
        "stars": {"type": "integer", "minimum": 1, "maximum": 5},
        "order": {"type": "object", "properties": {"id": {"type": "string"}, "size": {"type": ["integer", "null"]}}},
        "total": {"type": "number"},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "n": {"type": "number"},
                    "days": {"type": "array", "items": {"type": "string", "format": "date"}},
                },
            },
        },
        "note": {"type": "string", "x-generate": True},
    },
}
VALUE = {
    "kind": None,
    "level": 2,
    "share": 0.5,
    "flag": True,
    "mixed": 1,
    "urgent": False,
    "stars": 4,
    "order": {"size": 12},
    "total": 10.25,
    "day": "2026-02-28",
    "at": "2026-02-28T23:30:00.5-02:00",
    "tags": ["x", "y"],
    "rows": [{"n": 1, "days": ["2026-01-01"]}, {"days": []}],
    "note": "free text",
}


def test_types_follow_from_the_plan():
    stamp = pa.timestamp("us", "UTC")
    assert ValueColumn(compile_schema(SCHEMA)).type == pa.struct(
        [
            ("kind", pa.string()),
            ("level", pa.int64()),
            ("share", pa.float64()),
            ("flag", pa.bool_()),
            ("mixed", pa.string()),
            ("urgent", pa.bool_()),
            ("stars", pa.int64()),
            ("order", pa.struct([("id", pa.string()), ("size", pa.int64())])),
            ("total", pa.float64()),
            ("day", pa.date32()),
            ("at", stamp),
            ("tags", pa.list_(pa.string())),
            ("rows", pa.list_(pa.struct([("n", pa.float64()), ("days", pa.list_(pa.date32()))]))),
            ("note", pa.string()),
        ]
    )


def test_values_round_trip_through_duckdb(tmp_path):
    plan = compile_schema(SCHEMA)
    meta = {
        "/level": {"mode": "decide.choice", "probability": 0.6, "confidence": 0.4, "probabilities": [0.2, 0.6, 0.2]},
        "/total": {"mode": "extract.number", "confidence": 0.9, "span": [3, 8]},
        "/order/id": {"mode": "extract.span", "confidence": 0.1, "span": None, "null_reason": "not_found"},
        "/rows": {"mode": "array", "items": 2, "dropped": 1, "source": "count"},
    }
    usage = {"prompt_tokens": 42, "generated_tokens": 3}
    response = {"model": "m", "value": VALUE, "meta": meta, "usage": usage, "plan": plan.fingerprint}
    shard = Shard(0, 10, 12, 99)
    writer = PartWriter(tmp_path, "key", plan)
    summary = writer.write(shard, [Row("d", response, None, 5.0), Row("e", None, "empty document", None)])
    assert (summary.read, summary.filled, summary.failed, summary.untyped) == (2, 1, 1, 0)

    db = duckdb.connect()
    db.execute("SET TimeZone = 'UTC'")
    db.execute(f"CREATE VIEW f AS FROM '{part_path(tmp_path, 0)}'")
    assert db.sql("DESCRIBE f").fetchall()[0][0] == "doc_id"
    columns = [row[0] for row in db.sql("DESCRIBE f").fetchall()]
    assert columns == [
        "doc_id",
        "value",
        "value_json",
        "meta",
        "error",
        "prompt_tokens",
        "generated_tokens",
        "ms",
        "model",
        "plan",
    ]
    row = db.sql(
        "SELECT value.total * 2, value.order.size + 1, value.order.id, value.day + 1, epoch(value.at), value.mixed, "
        "value.rows[1].days[1], len(value.tags), value.kind, value_json FROM f WHERE error IS NULL"
    ).fetchall()[0]
    expected_at = dt.datetime(2026, 3, 1, 1, 30, 0, 500_000, dt.UTC).timestamp()
    assert row[:3] == (20.5, 13, None) and row[3] == dt.date(2026, 3, 1) and row[4] == expected_at
    assert row[5:9] == ("1", dt.date(2026, 1, 1), 2, None)
    assert json.loads(row[9]) == VALUE
    spans = db.sql(
        'SELECT m.pointer, m."start", m."end", m.null_reason, m.items, m.other FROM (SELECT unnest(meta) AS m FROM f)'
    )
    assert spans.fetchall() == [
        ("/level", None, None, None, None, None),
        ("/total", 3, 8, None, None, None),
        ("/order/id", None, None, "not_found", None, None),
        ("/rows", None, None, None, 2, '{"source":"count"}'),
    ]
    failed = db.sql(
        "SELECT value, value_json, meta, prompt_tokens, model, plan, error FROM f WHERE doc_id = 'e'"
    ).fetchall()[0]
    assert failed == (None, None, None, None, None, plan.fingerprint, "empty document")


def test_values_beyond_their_arrow_type_are_counted_not_invented():
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "minimum": 0},
            "x": {"type": "number"},
            "at": {"type": "string", "format": "date-time"},
            "local": {"type": "string", "format": "date-time"},
        },
    }
    column = ValueColumn(compile_schema(schema))
    value = {"n": 2**63, "x": 10**400, "at": "2016-12-31T23:59:60Z", "local": "2026-01-01T00:00:00"}
    typed, untyped = column.convert(value)
    assert typed == dict.fromkeys(value) and untyped == 4
    typed, untyped = column.convert({"n": 2**63 - 1, "at": "2026-01-01t00:00:00z"})
    assert untyped == 0 and typed["n"] == 2**63 - 1 and typed["at"] == dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def test_objects_without_leaves_have_no_place_in_the_type():
    schema = {"type": "object", "properties": {"o": {"type": "object", "properties": {}}, "s": {"type": "string"}}}
    assert ValueColumn(compile_schema(schema)).type == pa.struct([("s", pa.string())])
    bare = ValueColumn(compile_schema({"type": "object", "properties": {"o": {"type": "object"}}}))
    assert bare.type == pa.string() and bare.convert({"o": {}}) == ('{"o":{}}', 0)


def test_meta_column_fits_its_type():
    rows = meta_column({"/d": {"mode": "extract.date", "confidence": 0.4, "span": [1, 2], "assumed_offset": True}})
    (entry,) = pa.array([rows], META_TYPE).to_pylist()[0]
    assert entry["pointer"] == "/d" and entry["assumed_offset"] is True and (entry["start"], entry["end"]) == (1, 2)


def test_a_part_is_recognised_only_as_what_it_is(tmp_path):
    plan = compile_schema({"type": "object", "properties": {"s": {"type": "string"}}})
    shard = Shard(2, 8, 10, 0)
    rows = [Row("a", None, "x", None), Row("b", None, "y", None)]
    written = PartWriter(tmp_path, "key", plan).write(shard, rows)
    assert read_summary(tmp_path, "key", shard) == written
    assert read_summary(tmp_path, "other", shard) is None
    assert read_summary(tmp_path, "key", Shard(2, 8, 11, 0)) is None
    assert read_summary(tmp_path, "key", Shard(3, 8, 10, 0)) is None
    path = part_path(tmp_path, 2)
    path.write_bytes(path.read_bytes()[:-10])
    assert read_summary(tmp_path, "key", shard) is None
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
