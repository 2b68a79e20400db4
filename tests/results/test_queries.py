import csv
import io
import json

import pytest
from rich.console import Console

from deg_core.contract.errors import InputError
from deg_core.results.queries import NAMED, run_sql
from tests.results.test_views import add_fill, response

SPAN = {"mode": "extract.span", "field": "/name", "pointer": "/name"}


@pytest.mark.parametrize("name", NAMED)
def test_named_queries_answer_on_an_empty_home(home, name):
    result = run_sql(home, name)
    assert result.rows == [] and len(result.columns) >= 5
    Console(file=io.StringIO()).print(result.table(name))


def test_confident_errors(home, add_eval):
    add_eval(
        "old", [{"correct": False, "probability": 0.99, "uid": "of an older run"}], created="2020-01-01T00:00:00+00:00"
    )
    add_eval(
        "new",
        [
            {"correct": False, "probability": 0.95, "uid": "a", "predicted": "y"},
            {**SPAN, "correct": False, "confidence": 0.97, "uid": "b", "start": 1, "end": 4},
            {"correct": False, "probability": 0.5, "uid": "unsure"},
            {"correct": True, "probability": 0.99, "uid": "right"},
            {"correct": False, "system": "baseline", "uid": "not ours"},
        ],
    )
    result = run_sql(home, "confident-errors")
    place = result.columns.index("uid")
    assert [row[place] for row in result.rows] == ["b", "a"]


def test_field_accuracy(home, add_eval):
    rows = [{"probability": 0.9}, {"probability": 0.7}, {"probability": 0.8, "correct": False}, {"system": "baseline"}]
    add_eval("e", [*rows, {**SPAN, "gold_null": True, "confidence": 1.0, "correct": False}])
    result = run_sql(home, "field-accuracy")
    found = [dict(zip(result.columns, row, strict=True)) for row in result.rows]
    assert [(row["system"], row["field"], row["answers"], row["accuracy"]) for row in found] == [
        ("baseline", "/a", 1, 1.0),
        ("deg", "/a", 3, 0.667),
        ("deg", "/name", 1, 0.0),
    ]
    assert found[1]["mean_certainty"] == 0.8 and found[1]["calibration_gap"] == 0.133
    assert found[2]["made_up"] == 1 and found[0]["mean_certainty"] is None


def test_drift(home, add_eval):
    add_eval("a", [{"correct": False}], created="2020-01-01T00:00:00+00:00")
    add_eval("b", [{}, {"correct": False}], created="2021-01-01T00:00:00+00:00")
    add_eval("c", [{}, {}, {**SPAN}], created="2022-01-01T00:00:00+00:00")
    assert run_sql(home, "drift").rows == [
        ("deg", "decide.choice", 2, 2, 0.5, 1.0, 0.5),
        ("deg", "extract.span", None, 1, None, 1.0, None),
    ]


def test_review_queue_and_fill_errors(home):
    schema = {"type": "object", "properties": {"s": {"type": "string"}, "b": {"type": "boolean"}}}
    meta = {
        "/s": {"mode": "extract.span", "confidence": 0.3, "span": [2, 5]},
        "/b": {"mode": "decide.noul", "probability": 0.45},
    }
    sure = {
        "/s": {"mode": "extract.span", "confidence": 0.9, "span": [0, 1]},
        "/b": {"mode": "decide.noul", "probability": 0.05},
    }
    value = {"s": "abc", "b": False}
    add_fill(home, "f", schema, [response(value, meta), response(value, sure), None])
    assert [row[:6] for row in run_sql(home, "review-queue").rows] == [
        ("d0", "/s", "abc", 0.3, 2, 5),
        ("d0", "/b", "false", 0.55, None, None),
    ]
    assert [row[2:] for row in run_sql(home, "fill-errors").rows] == [("empty document", 1, "d2")]


def test_formats(home):
    sql = "SELECT 'a,[b]' AS s, 1.5 AS x, 'nan'::DOUBLE AS n, NULL AS z, DATE '2026-01-02' AS d, {'k': [1, 2]} AS t, 12.30::DECIMAL(5,2) AS c"
    result = run_sql(home, sql)
    assert json.loads(result.json()) == [
        {"s": "a,[b]", "x": 1.5, "n": None, "z": None, "d": "2026-01-02", "t": {"k": [1, 2]}, "c": 12.3}
    ]
    header, row = csv.reader(io.StringIO(result.csv()))
    assert header == ["s", "x", "n", "z", "d", "t", "c"]
    assert row == ["a,[b]", "1.5", "NaN", "", "2026-01-02", '{"k": [1, 2]}', "12.30"]
    out = io.StringIO()
    Console(file=out, width=120).print(run_sql(home, "SELECT 'x[red]y'").table())
    assert "'x[red]y'" in out.getvalue()
    Console(file=out, width=120).print(result.table())
    assert "a,[b]" in out.getvalue() and "2026-01-02" in out.getvalue()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELEC 1 FROM x", "syntax error"),
        ("SELECT * FROM nowhere", "nowhere"),
        ("SELECT colour FROM fills", "colour"),
        ("confident-error", "did you mean confident-errors"),
        ("zzz", "there are confident-errors"),
        ("  ", "give SQL or one of"),
        ("-- nothing", "no SQL statement"),
        ("COPY (SELECT 1) TO 'out.csv'", "COPY statements are not run here"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'", "EXPLAIN statements are not run"),
        ("SELECT 1; DROP TABLE artifacts", "DROP statements are not run"),
        ("SELECT 1; SELECT 2", "2 statements are given"),
    ],
)
def test_bad_questions(home, tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        run_sql(home, text)
    assert not list(tmp_path.iterdir())


def test_sql_that_reads_is_run(home):
    assert run_sql(home, "SELECT 2 AS two;").rows == [(2,)]
    assert run_sql(home, "WITH a AS (SELECT 1 AS x) FROM a").columns == ("x",)
    assert run_sql(home, "PIVOT (SELECT 'k' AS a, 1 AS b) ON a USING sum(b)").rows == [(1,)]
    assert any(row[0] == "fill_cells" for row in run_sql(home, "SHOW TABLES").rows)


def test_a_log_that_has_only_begun_is_left_out(home):
    for name in ("runs/r", "pools/p", "models"):
        (home.root / name).mkdir(parents=True, exist_ok=True)
    for name in ("runs/r/log.jsonl", "runs/r/mem.jsonl", "pools/p/quarantine.jsonl", "models/promotions.jsonl"):
        (home.root / name).write_text('{"step": 1, "lo')
    for view in ("train_log", "memory", "quarantine", "promotions", "fills"):
        assert run_sql(home, f"SELECT count(*) FROM {view}").rows == [(0,)]
